const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;
const LOGGED_PATH_LIMIT = 200;

/**
 * The target of a request in the form that the router knows: a path with or without a query. A proxy's absolute form
 * loses its host, a target such as "*" becomes a path that no route has, and a "%" that begins no escape stands for
 * itself.
 */
export function plainUrl(target: string): string {
  // Nearly every target is in that form already.
  if (target.startsWith('/') && !target.includes('%')) return target;
  const local = target.replace(ABSOLUTE_FORM, '');
  const url = local.startsWith('/') ? local : `/${local}`;
  const [path = '', ...query] = url.split('?');
  return isDecodable(path) ? url : [path.replaceAll('%', '%25'), ...query].join('?');
}

export function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? '/';
}

/** Queries stay out of the log: a cursor or a filter may say more about a dealer than a log should keep. */
export function loggedPath(url: string): string {
  const path = pathOf(url);
  return path.length > LOGGED_PATH_LIMIT ? `${path.slice(0, LOGGED_PATH_LIMIT)}…` : path;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
