import type { FastifyRequest } from 'fastify';
import { createByteRate } from '../../../concurrency/limits/byte-rate.ts';
import { createKeyedSemaphore, SemaphoreError } from '../../../concurrency/limits/keyed-semaphore.ts';
import { UPLOAD_BYTES_PER_SECOND } from '../../../contract/dashboard/limits.ts';
import { BYTES_PER_MB, PHOTO_LIMIT_BYTES } from '../../../contract/limits.ts';
import { clientSignal } from '../../connection/client-signal.ts';
import type { Call, DashboardContext, SignedIn } from '../call.ts';
import { DashboardError } from '../dashboard-error.ts';
import { createPacedBody } from './upload-pace.ts';

/**
 * A file of up to 25 MB is in memory while it is read and processed. A file may take minutes to arrive, so it takes four dealers
 * that keep the least pace to use all slots. Photos wait for their storage, too; imports need none of it, so they have slots of
 * their own.
 */
const AT_ONCE = {
  photos: { total: 16, perKey: 4 },
  imports: { total: 8, perKey: 2 },
};
/**
 * Files whose first bytes have not come hold no slot, and at most 64 KiB that Node has read of them. The oldest of too many is
 * refused, not the newest: whoever sends in earnest needs them for a moment only.
 */
const ARRIVING_LIMIT = 1_000;
/** Files that wait for a slot, or for their first bytes, cost no more memory than that. */
const WAITING_LIMIT = 200;
const WAITING_LIMIT_PER_DEALER = 50;
const WAIT_LIMIT_MS = 30_000;
const RETRY_SECONDS = 5;
/** The first buffer for a file whose size was not announced. */
const FIRST_BYTES = 65_536;

const waiting = { waitingTotal: WAITING_LIMIT, waitingPerKey: WAITING_LIMIT_PER_DEALER };
const uploads = {
  photos: createKeyedSemaphore({ ...AT_ONCE.photos, ...waiting }),
  imports: createKeyedSemaphore({ ...AT_ONCE.imports, ...waiting }),
};

const uploadRate = createByteRate({ bytesPerSecond: UPLOAD_BYTES_PER_SECOND, burstBytes: 8 * BYTES_PER_MB });
const PACED_BYTES = 262_144;

/** A request that brings a file, and whose it is. */
type Upload = Pick<Call, 'assertAdmitted'> & {
  request: FastifyRequest;
  user: Pick<SignedIn, 'organizationId'>;
  context: Pick<DashboardContext, 'uploadPace'>;
};

/** Whose slots a file takes, how large it may be, and the message for one that is larger. */
export type UploadLimit = { slots: keyof typeof AT_ONCE; limitBytes: number; tooLarge: string };

const PHOTO_UPLOAD: UploadLimit = {
  slots: 'photos',
  limitBytes: PHOTO_LIMIT_BYTES,
  tooLarge: 'A photo may have at most 25 MB. Make it smaller and try again.',
};

/** Reads a file that is being uploaded and passes it on. */
export async function withUpload<Result>(
  upload: Upload,
  work: (bytes: Buffer) => Promise<Result>,
  limit: UploadLimit = PHOTO_UPLOAD,
): Promise<Result> {
  return await asUpload(upload, async (chunks) => await work(await readUpload(upload, chunks, limit)), limit);
}

/**
 * Runs a limited number of uploads at a time, each when its first bytes have come: whoever sends one byte now and then holds no
 * slot, and is ended for being slow. One whose Content-Length is too large is refused before a byte of it is read.
 */
export async function asUpload<Result>(
  { request, user, context, assertAdmitted }: Upload,
  work: (chunks: AsyncIterable<Buffer>) => Promise<Result>,
  { slots, limitBytes, tooLarge }: UploadLimit,
): Promise<Result> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw refusal(tooLarge);
  const { organizationId } = user;
  const body = createPacedBody(request.raw, context.uploadPace);
  await whileArriving(organizationId, (signal) => body.begun(signal));
  const wait = { deadlineMs: performance.now() + WAIT_LIMIT_MS, signal: clientSignal(request) };
  const task = () => work(whole(atRate(organizationId, body.chunks()), assertAdmitted));
  return await uploads[slots].run(organizationId, task, wait).catch((error: unknown) => {
    throw error instanceof SemaphoreError ? tooMany() : error;
  });
}

/** What stores a file takes its end for the sign that it may. */
async function* whole(chunks: AsyncIterable<Buffer>, assertAdmitted: Upload['assertAdmitted']): AsyncGenerator<Buffer> {
  yield* chunks;
  await assertAdmitted();
}

type Arriving = { organizationId: string; refusal: AbortController };
/** The first one is the oldest. */
const arriving = new Set<Arriving>();

async function whileArriving(organizationId: string, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
  let own = 0;
  for (const one of arriving) own += one.organizationId === organizationId ? 1 : 0;
  if (own >= WAITING_LIMIT_PER_DEALER) throw tooMany();
  const [oldest] = arriving;
  if (oldest !== undefined && arriving.size >= ARRIVING_LIMIT) oldest.refusal.abort(tooMany());
  const entry = { organizationId, refusal: new AbortController() };
  arriving.add(entry);
  // At once, or those that come in the same moment would all refuse the same one.
  entry.refusal.signal.addEventListener('abort', () => arriving.delete(entry));
  try {
    await wait(entry.refusal.signal);
  } finally {
    arriving.delete(entry);
  }
}

/**
 * Stops at the first byte too many: a file of 300 MB is not read to its end. The bytes are collected in one place, so that a
 * file takes its size of memory and not twice that.
 */
async function readUpload(
  { request }: Upload,
  chunks: AsyncIterable<Buffer>,
  { limitBytes, tooLarge }: UploadLimit,
): Promise<Buffer> {
  // Memory that nothing was written to yet costs nothing, so whoever only announces a large file takes none.
  const announced = Number(request.headers['content-length'] ?? FIRST_BYTES);
  let file: Buffer = Buffer.allocUnsafeSlow(Math.max(1, announced));
  let bytes = 0;
  for await (const piece of chunks) {
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
 * The bytes of a file at most as fast as all uploads may be together: six zips at once took the p50 of another client from 4
 * to 19 ms.
 */
async function* atRate(organizationId: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let unpaid = 0;
  for await (const chunk of chunks) {
    yield chunk;
    unpaid += chunk.length;
    if (unpaid < PACED_BYTES) continue;
    await uploadRate.pass(organizationId, unpaid);
    unpaid = 0;
  }
}

function tooMany(): DashboardError {
  const message = 'Too many files are being uploaded at this moment. Try again in a minute.';
  return new DashboardError('unavailable', message, { headers: { 'retry-after': String(RETRY_SECONDS) } });
}

function refusal(message: string): DashboardError {
  return new DashboardError('request_too_large', message, { headers: { connection: 'close' } });
}
