import type { ServerResponse } from 'node:http';

/**
 * Calls `release` when the answer has been sent or the client has disconnected, and at once if that has already
 * happened. After an `await` the client may be gone: "close" is not emitted again, and what the request holds would
 * never be released.
 */
export function onceClosed(response: ServerResponse, release: () => void): void {
  if (response.closed) release();
  else response.once('close', release);
}
