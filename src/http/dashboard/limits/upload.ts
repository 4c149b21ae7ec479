import type { FastifyRequest } from 'fastify';
import { createByteRate } from '../../../concurrency/limits/byte-rate.ts';
import { createKeyedSemaphore, SemaphoreError } from '../../../concurrency/limits/keyed-semaphore.ts';
import { UPLOAD_BYTES_PER_SECOND } from '../../../contract/dashboard/limits.ts';
import { BYTES_PER_MB, PHOTO_LIMIT_BYTES } from '../../../contract/limits.ts';
import { clientSignal } from '../../connection/client-signal.ts';
import type { SignedIn } from '../call.ts';
import { DashboardError } from '../dashboard-error.ts';

/** A file of up to 25 MB is in memory while it is read and processed. */
const UPLOADS_AT_ONCE = 16;
/** A file may take minutes to arrive, so it takes four slow dealers to use all slots. */
const UPLOADS_AT_ONCE_PER_DEALER = 4;
/** A file that waits costs no memory: none of it has been read. */
const WAITING_LIMIT = 200;
const WAITING_LIMIT_PER_DEALER = 50;
const WAIT_LIMIT_MS = 30_000;
const RETRY_SECONDS = 5;
/** The first buffer for a file whose size was not announced. */
const FIRST_BYTES = 65_536;

const uploads = createKeyedSemaphore({
  total: UPLOADS_AT_ONCE,
  perKey: UPLOADS_AT_ONCE_PER_DEALER,
  waitingTotal: WAITING_LIMIT,
  waitingPerKey: WAITING_LIMIT_PER_DEALER,
});

const uploadRate = createByteRate({ bytesPerSecond: UPLOAD_BYTES_PER_SECOND, burstBytes: 8 * BYTES_PER_MB });
const PACED_BYTES = 262_144;

/** A request that brings a file, and whose it is. */
type Upload = { request: FastifyRequest; user: Pick<SignedIn, 'organizationId'> };

/** How large a file may be, and the message for one that is larger. */
export type UploadLimit = { limitBytes: number; tooLarge: string };

const PHOTO_UPLOAD: UploadLimit = {
  limitBytes: PHOTO_LIMIT_BYTES,
  tooLarge: 'A photo may have at most 25 MB. Make it smaller and try again.',
};

/** Reads a file that is being uploaded and passes it on. */
export async function withUpload<Result>(
  { request, user }: Upload,
  work: (bytes: Buffer) => Promise<Result>,
  limit: UploadLimit = PHOTO_UPLOAD,
): Promise<Result> {
  return await asUpload({ request, user }, async () => await work(await readUpload({ request, user }, limit)), limit);
}

/**
 * Runs a limited number of uploads at a time. One whose Content-Length is too large is refused before a byte of it is
 * read.
 */
export async function asUpload<Result>(
  { request, user }: Upload,
  work: () => Promise<Result>,
  { limitBytes, tooLarge }: UploadLimit,
): Promise<Result> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw refusal(tooLarge);
  const wait = { deadlineMs: performance.now() + WAIT_LIMIT_MS, signal: clientSignal(request) };
  return await uploads.run(user.organizationId, work, wait).catch((error: unknown) => {
    if (!(error instanceof SemaphoreError)) throw error;
    const message = 'Too many files are being uploaded at this moment. Try again in a minute.';
    throw new DashboardError('unavailable', message, { headers: { 'retry-after': String(RETRY_SECONDS) } });
  });
}

/**
 * Stops at the first byte too many: a file of 300 MB is not read to its end. The bytes are collected in one place, so that a
 * file takes its size of memory and not twice that.
 */
async function readUpload(upload: Upload, { limitBytes, tooLarge }: UploadLimit): Promise<Buffer> {
  // Memory that nothing was written to yet costs nothing, so whoever only announces a large file takes none.
  const announced = Number(upload.request.headers['content-length'] ?? FIRST_BYTES);
  let file: Buffer = Buffer.allocUnsafeSlow(Math.max(1, announced));
  let bytes = 0;
  for await (const piece of chunksOf(upload)) {
    if (bytes + piece.length > limitBytes) throw refusal(tooLarge);
    if (bytes + piece.length > file.length) file = grown(file, bytes + piece.length, limitBytes);
    bytes += piece.copy(file, bytes);
  }
  return bytes === file.length ? file : file.subarray(0, bytes);
}

function grown(file: Buffer, neededBytes: number, limitBytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(limitBytes, Math.max(neededBytes, 2 * file.length)));
  file.copy(larger);
  return larger;
}

/**
 * The bytes of a file as they come, at most as fast as all uploads may be together: six zips at once took the p50 of another
 * client from 4 to 19 ms. Whoever stops reading leaves the request whole, so that its answer can be sent.
 */
export async function* chunksOf({ request, user }: Upload): AsyncGenerator<Buffer> {
  let unpaid = 0;
  for await (const chunk of request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    yield chunk;
    unpaid += chunk.length;
    if (unpaid < PACED_BYTES) continue;
    await uploadRate.pass(user.organizationId, unpaid);
    unpaid = 0;
  }
}

function refusal(message: string): DashboardError {
  return new DashboardError('request_too_large', message, { headers: { connection: 'close' } });
}
