import { createKeyedQueue } from './keyed-queue.ts';

/** How many calls one batch may carry; the rest form the next one. */
const BATCH_LIMIT = 5_000;

/**
 * Makes one call out of many that arrive together: while a batch is under way, the calls that come form the next one. A
 * call never joins a batch that has begun, so what it learns is never older than its own arrival.
 *
 * The next batch begins as soon as the one before has ended. To let it wait until the event loop has read what else arrived
 * was tried: with 64 connections a lookup of keys served 57 requests instead of 30, and the service answered 15 % fewer.
 */
export function createBatcher<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<Output[]>,
): (input: Input) => Promise<Output> {
  const byKey = createKeyedBatcher(runBatch);
  return (input) => byKey('', input);
}

/** A batcher for each key: calls of different keys never share a batch. */
export function createKeyedBatcher<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<Output[]>,
): (key: string, input: Input) => Promise<Output> {
  const queue = createKeyedQueue<Input, Output>({ run: (inputs) => runBatch(inputs), batchLimit: BATCH_LIMIT });
  // Without a deadline no call is late.
  return (key, input) => queue.add(key, input) as Promise<Output>;
}
