/** Of a connection that can't be made, or ends while it is used. */
const AWAY_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);
/** What pg and its pool say without a code. */
const AWAY_MESSAGES =
  /^Connection terminated|^timeout (exceeded|expired) when trying to connect|^Client has encountered a connection error|^Client was closed and is not queryable/;

/** True if the database could not be reached or ended the session, so that the error says nothing about what was to be done. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Connecting to a name with several addresses fails with one error for each.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseAway);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  // The file of a unix socket goes with its server.
  if (code === 'ENOENT') return syscall === 'connect';
  return AWAY_MESSAGES.test(message) || (code !== undefined && (AWAY_CODES.has(code) || isConnectionEnd(code)));
}

/** 57P0x: the administrator, a crash or a start-up state ended the session; 08xxx: connection exceptions. */
export function isConnectionEnd(code: string | undefined): boolean {
  return code !== undefined && (code.startsWith('57P') || code.startsWith('08'));
}
