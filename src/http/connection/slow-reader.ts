import type { ServerResponse } from 'node:http';
import { onceClosed } from './once-closed.ts';

export type SlowReaderLimits = {
  periodMs: number;
  /** What a client takes in each period at least, as long as there is something to take. */
  bytes: number;
};

/** About 2 KB a second. A line that is slower would need a day for a large file. */
export const SLOWEST_FILE_BYTES = 65_536;

/**
 * Cuts a client that takes a photo or a file of the dashboard too slowly; an answer of the API has a time for each of its pieces
 * (`limitSending` in send-list.ts). An idle connection is closed by Node; one that takes a few bytes now and then is not
 * idle, and would hold what its answer holds for as long as it likes.
 */
export function cutSlowReader(response: ServerResponse, { periodMs, bytes }: SlowReaderLimits): void {
  let takenBefore = 0;
  const timer = setInterval(() => {
    const { socket } = response;
    if (socket === null) return;
    const taken = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && taken - takenBefore < bytes) response.destroy();
    takenBefore = taken;
  }, periodMs);
  onceClosed(response, () => clearInterval(timer));
}
