import type { FastifyRequest } from 'fastify';
import { SemaphoreError } from '../../concurrency/keyed-semaphore.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { PHOTO_LIMIT_BYTES } from '../../contract/limits.ts';
import { DashboardError } from './dashboard-error.ts';

/** Each is in memory while it is read, at most 25 MB. */
const UPLOADS_AT_ONCE = 16;
const uploads = createSemaphore({ limit: UPLOADS_AT_ONCE, waitingLimit: 0 });
const RETRY_SECONDS = 5;

/** Reads a photo that is being uploaded and hands it on. */
export async function withUpload<Result>(
  request: FastifyRequest,
  work: (bytes: Buffer) => Promise<Result>,
): Promise<Result> {
  return await uploads
    .run(async () => await work(await readUpload(request)))
    .catch((error: unknown) => {
      if (!(error instanceof SemaphoreError)) throw error;
      const message = 'Too many photos are being uploaded at this moment. Try again in a minute.';
      throw new DashboardError('unavailable', message, { headers: { 'retry-after': String(RETRY_SECONDS) } });
    });
}

/** Stops at the first byte too many: a file of 300 MB is not read to its end. */
async function readUpload(request: FastifyRequest): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > PHOTO_LIMIT_BYTES) throw tooLarge();
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request.raw as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > PHOTO_LIMIT_BYTES) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(): DashboardError {
  return new DashboardError('request_too_large', 'A photo may have at most 25 MB. Make it smaller and try again.', {
    headers: { connection: 'close' },
  });
}
