import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { createSemaphore } from '../../../concurrency/limits/semaphore.ts';
import type { Encoding } from '../../accept-encoding.ts';

/** A smaller answer fits in one or two packets either way, and compressing it takes as long as reading it. */
export const COMPRESS_MIN_BYTES = 1_024;

/**
 * The levels that cost little: whoever waits for an answer that is not kept waits for its compression, too. A page of
 * 50 listings, 100 KB, takes (`zlib` of Node 26, CPU time; in parentheses what is left of it):
 *
 * | gzip 2 | gzip 6 | brotli 1 | brotli 4 |
 * |---|---|---|---|
 * | 0.6 ms (11.5 %) | 1.0 ms (9.5 %) | 0.37 ms (11.0 %) | 1.2 ms (9.3 %) |
 *
 * No compression at all would save the time and cost more of it on the way: 89 KB take 70 ms at 10 Mbit/s.
 */
const GZIP = { level: 2 };
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Each takes a processor for itself; with more at once the event loop, which serves everybody, would have a smaller part. */
const COMPRESSIONS_AT_ONCE = 4;
const turns = createSemaphore({ limit: COMPRESSIONS_AT_ONCE, waitingLimit: Number.POSITIVE_INFINITY });

export const compressors = {
  br: (body: Buffer) => turns.run(() => promisify(brotliCompress)(body, BROTLI)),
  gzip: (body: Buffer) => turns.run(() => promisify(gzip)(body, GZIP)),
};

/** For an answer that is sent as it is read. */
export function createCompressor(encoding: Encoding) {
  if (encoding === 'identity') return null;
  return encoding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI);
}
