export type QueryStrings = Record<string, string | string[]>;

/**
 * Reads a query: a name that comes several times has a list of values. The parts are found by `split` and `indexOf`: the
 * framework's own parser looks at each character, and a query is read before anything is known of its client.
 */
export function parseQueryString(text: string): QueryStrings {
  // Without a prototype, since a name may be any.
  const query: QueryStrings = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decoded(pair.slice(equals + 1));
    const others = query[name];
    if (others === undefined) query[name] = value;
    else if (typeof others === 'string') query[name] = [others, value];
    else others.push(value);
  }
  return query;
}

/** What is no valid escape stands for itself. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
