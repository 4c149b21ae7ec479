import type { IncomingMessage } from 'node:http';
import {
  UPLOAD_FIRST_BYTES,
  UPLOAD_GRACE_SECONDS,
  UPLOAD_LEAST_BYTES_PER_SECOND,
} from '../../../contract/dashboard/limits.ts';
import { DashboardError } from '../dashboard-error.ts';

export type UploadPace = {
  /** With so many an upload has begun in earnest. */
  firstBytes: number;
  /** What a client sends at least, on average. */
  bytesPerSecond: number;
  /** How much longer than that it may take. */
  graceMs: number;
};

const PACE: UploadPace = {
  firstBytes: UPLOAD_FIRST_BYTES,
  bytesPerSecond: UPLOAD_LEAST_BYTES_PER_SECOND,
  graceMs: UPLOAD_GRACE_SECONDS * 1_000,
};

/**
 * The body of an upload, which ends with 408 `request_timeout` if the client sends it too slowly. Only the time in which we
 * wait for the client counts: a file that waits for a slot, for its share of the rate or for the database is not late.
 */
export type PacedBody = {
  /** Waits for the first bytes or the end of the file, and reads nothing yet: so much has room in the stream anyway. */
  begun(signal: AbortSignal): Promise<void>;
  /** The bytes as they come. Whoever stops reading leaves the request whole, so that its answer can be sent. */
  chunks(): AsyncGenerator<Buffer>;
};

export function createPacedBody(raw: IncomingMessage, given: Partial<UploadPace> = {}): PacedBody {
  const { firstBytes, bytesPerSecond, graceMs } = { ...PACE, ...given };
  // When the stream is full, Node reads no more from the connection.
  const enoughBytes = Math.min(firstBytes, raw.readableHighWaterMark);
  let readBytes = 0;
  let waitedMs = 0;

  function leftMs(): number {
    return graceMs + ((readBytes + raw.readableLength) / bytesPerSecond) * 1_000 - waitedMs;
  }

  function arrival(isThere: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const startedMs = performance.now();
      let timer: NodeJS.Timeout | undefined;
      function settle(act: () => void): void {
        clearTimeout(timer);
        raw.off('readable', look).off('end', look).off('close', onClose).off('error', fail);
        signal?.removeEventListener('abort', onAbort);
        waitedMs += performance.now() - startedMs;
        act();
      }
      const fail = (error: unknown) => settle(() => reject(error));
      const look = () => {
        if (isThere()) settle(resolve);
      };
      const onClose = () => (isThere() ? settle(resolve) : fail(new Error('the client went before its file had come')));
      const onAbort = () => fail(signal?.reason);
      /** What has come meanwhile gives the client more time. */
      function check(): void {
        const ms = leftMs() - (performance.now() - startedMs);
        if (ms <= 0) fail(tooSlow());
        else timer = setTimeout(check, ms);
      }
      raw.on('readable', look).on('end', look).on('close', onClose).on('error', fail);
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) onAbort();
      else if (raw.destroyed) onClose();
      else if (isThere()) settle(resolve);
      else check();
    });
  }

  return {
    async begun(signal) {
      await arrival(() => raw.complete || raw.readableLength >= enoughBytes, signal);
    },
    async *chunks() {
      let chunk = null as Buffer | null;
      // The stream ends only when somebody has tried to read behind its last byte.
      const isRead = () => {
        chunk = raw.read() as Buffer | null;
        return chunk !== null || raw.readableEnded;
      };
      for (;;) {
        if (!isRead()) await arrival(isRead);
        if (chunk === null) return;
        readBytes += chunk.length;
        yield chunk;
      }
    },
  };
}

function tooSlow(): DashboardError {
  const message = 'The file arrived too slowly. Check your connection, then upload it again.';
  return new DashboardError('request_timeout', message, { headers: { connection: 'close' } });
}
