/**
 * The first cookie of a name, as "name=value"; null if there is none. It is found without taking the header apart: for one of
 * 16,000 semicolons that took 0.75 ms, and each request of the dashboard looks for its cookie three times, before it is counted.
 */
export function cookieOf(header: string, name: string): string | null {
  const start = `${name}=`;
  for (let at = header.indexOf(start); at !== -1; at = header.indexOf(start, at + start.length)) {
    if (!isBeginning(header, at)) continue;
    const end = header.indexOf(';', at);
    return header.slice(at, end === -1 ? undefined : end).trimEnd();
  }
  return null;
}

/** Whether a cookie begins here: nothing but blanks is before it. */
function isBeginning(header: string, at: number): boolean {
  let before = at - 1;
  while (header[before] === ' ' || header[before] === '\t') before -= 1;
  return before === -1 || header[before] === ';';
}
