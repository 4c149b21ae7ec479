import type { ServerResponse } from 'node:http';

/**
 * Calls `release` when the answer has gone out or its client has gone, and at once if that is past: after something was
 * awaited the client may be gone, "close" does not come again, and what was held would be held for ever.
 */
export function onceClosed(response: ServerResponse, release: () => void): void {
  if (response.closed) release();
  else response.once('close', release);
}
