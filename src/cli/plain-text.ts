/** Lines for a terminal: names and values in two columns. */
export function fields(rows: [name: string, value: unknown][]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${shown(value)}`).join('\n');
}

/** A table with its columns as wide as they need to be. */
export function table(headings: string[], rows: unknown[][]): string {
  const cells = [headings, ...rows.map((row) => row.map(shown))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // What somebody else's server answered must not steer the terminal, nor break a table's lines.
  return String(value).replaceAll(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1).replace(control, '?'));
}
