import { Sql } from '../sql.ts';

export type ColumnType =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'boolean'
  | 'timestamptz'
  | 'bytea'
  /** Where a row lies. */
  | 'tid';

/** The columns by the names of the rows' fields; a field that is not named is not sent. */
export type ColumnTypes<Row> = { readonly [Name in keyof Row & string]?: ColumnType };

/**
 * Rows as a table to select from: `unnest($1::text[], $2::integer[]) as rows (id, reserved_units)` for the types
 * `{ id: 'text', reservedUnits: 'integer' }`. Each column is one parameter, so a statement has the same text for any
 * number of rows, and a column can't take the values of its neighbour.
 *
 * The text is made once for a constant of types: made each time it cost more than the values of ten rows.
 */
export function unnestRows<Row extends object>(
  alias: string,
  rows: readonly Row[],
  types: ColumnTypes<Row>,
  /** Adds the number of the row, from 1 on, as a column of this name. */
  ordinality?: string,
): Sql {
  const [first] = rows;
  if (first !== undefined && rows.length === 1 && hasLongText(first)) return oneRow(alias, first, types, ordinality);
  const { names, text } = knownText(alias, types, ordinality);
  return new Sql(
    text,
    names.map((name) => rows.map((row) => row[name as keyof Row])),
    undefined,
  );
}

const LONG_TEXT_CHARACTERS = 16_384;

function hasLongText(row: object): boolean {
  return Object.values(row).some((value) => typeof value === 'string' && value.length > LONG_TEXT_CHARACTERS);
}

/**
 * The same for a single row with a long text, whose values are parameters of their own. The driver escapes each quote of a
 * text in an array, one after the other: for an order of 0.8 MB that took 25 ms in one go.
 */
function oneRow<Row extends object>(alias: string, row: Row, types: ColumnTypes<Row>, ordinality?: string): Sql {
  const columnTypes = Object.entries(types) as [string, ColumnType][];
  const values = columnTypes.map(([, type], index) => `$${index + 1}::${type}`);
  const columns = columnTypes.map(([name]) => columnName(name));
  if (ordinality !== undefined) {
    values.push('1::bigint');
    columns.push(ordinality);
  }
  const text = `(values (${values.join(', ')})) as ${alias} (${columns.join(', ')})`;
  return new Sql(
    text,
    columnTypes.map(([name]) => row[name as keyof Row]),
    undefined,
  );
}

type Text = { alias: string; ordinality: string | undefined; names: string[]; text: string };

const textByTypes = new WeakMap<object, Text>();

function knownText(alias: string, types: object, ordinality: string | undefined): Text {
  const known = textByTypes.get(types);
  if (known !== undefined && known.alias === alias && known.ordinality === ordinality) return known;
  const made = textOf(alias, types, ordinality);
  textByTypes.set(types, made);
  return made;
}

function textOf(alias: string, types: object, ordinality: string | undefined): Text {
  const columnTypes = Object.entries(types) as [string, ColumnType][];
  const names = columnTypes.map(([name]) => name);
  const arrays = columnTypes.map(([, type], index) => `$${index + 1}::${type}[]`);
  const columns = [...names.map(columnName), ...(ordinality === undefined ? [] : [ordinality])];
  const counted = ordinality === undefined ? '' : ' with ordinality';
  const text = `unnest(${arrays.join(', ')})${counted} as ${alias} (${columns.join(', ')})`;
  return { alias, ordinality, names, text };
}

function columnName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
