import { createKeyedQueue, NEXT_BATCH } from '../../../concurrency/keyed-queue.ts';
import { STORAGE_QUOTA_DEFAULT_MB_PER_DAY } from '../../../contract/limits.ts';
import type { AppOptions } from '../../app-options.ts';
import type { WriteRequest } from './idempotency-records.ts';
import { createKeysInFlight } from './keys-in-flight.ts';
import { createTransactionTurns } from './transaction-turns.ts';
import type { WriteItem, WriteKind } from './write-kind.ts';
import { LATE, type WriteOutcome } from './write-outcome.ts';
import {
  type PendingWrite,
  runInTransaction,
  type TransactionContext,
  type TransactionOutcomes,
} from './write-transaction.ts';

/**
 * Runs every write of the API, once for its key. A write waits for its key (`keys-in-flight.ts`), then in the queue of
 * the lock that it needs. Writes that wait there together share a transaction; a single one is a batch of one. Each keeps
 * its own key, its own answer and its own error: if the shared transaction fails, each is tried alone.
 */
export type WriteExecutor = {
  run<Input>(kind: WriteKind<Input>, request: WriteRequest, item: WriteItem<Input>): Promise<WriteOutcome>;
};

type ExecutorOptions = Pick<AppOptions, 'db' | 'channel' | 'writeWaitMs' | 'storageQuotaMbPerDay' | 'isDiskLow'>;

export function createWriteExecutor(options: ExecutorOptions): WriteExecutor {
  const keysInFlight = createKeysInFlight(options.writeWaitMs);
  const context: TransactionContext = {
    channel: { ...options.channel, db: options.db },
    quotaMbPerDay: options.storageQuotaMbPerDay ?? STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
    isDiskLow: options.isDiskLow ?? (() => false),
  };
  const lockQueue = createKeyedQueue<PendingWrite, WriteOutcome>({
    run: (writes) => runTogether(context, writes),
    batchLimit: ({ kind }) => kind.batchLimit,
    canJoin: canShareTransaction,
    // Those who wait would wait for the same connection or lock in vain, one after the other.
    resultForWaiting: (outcome) => (outcome.kind === 'unavailable' ? outcome : undefined),
    takeTurn: createTransactionTurns(),
    resultsAtOnce: ANSWERS_AT_ONCE,
  });

  async function enqueue(write: PendingWrite): Promise<WriteOutcome> {
    const { kind, item, deadlineMs } = write;
    const outcome = await lockQueue.add(kind.lockOf(item.integration), write, { deadlineMs });
    return outcome === 'late' ? LATE : outcome;
  }

  return {
    run: (kind, request, item) =>
      keysInFlight(request, (deadlineMs) => enqueue({ kind, request, item, deadlineMs } as PendingWrite)),
  };
}

/**
 * Sending an answer takes about half a millisecond. Beside a dealer who sends test events as fast as he can, a neighbour's read
 * took 18 ms at the median with eight at once, and takes 11 with two; the dealer gets as many answers.
 */
const ANSWERS_AT_ONCE = 2;

/**
 * A larger write runs alone. The work of a batch is done in one go: 25 orders of 0.8 MB kept the event loop from every
 * other client for 140 ms. What a small write reads, such as the order that it cancels, may be as large; that shows in the
 * transaction, and its work leaves the rest for the next one.
 */
const SHARED_BODY_LIMIT_BYTES = 32 * 1024;

/** A request keeps the mode and the organization that it was admitted with. If they change while it waits, it may be refused. */
function canShareTransaction(one: PendingWrite, other: PendingWrite): boolean {
  const [a, b] = [one.item.integration, other.item.integration];
  return (
    Math.max(one.request.bodyBytes, other.request.bodyBytes) <= SHARED_BODY_LIMIT_BYTES &&
    one.kind === other.kind &&
    a.integrationId === b.integrationId &&
    a.organizationId === b.organizationId &&
    a.isTestMode === b.isTestMode
  );
}

async function runTogether(context: TransactionContext, writes: PendingWrite[]): Promise<TransactionOutcomes> {
  const result = await runInTransaction(context, writes);
  if (Array.isArray(result)) return result;
  if (writes.length === 1 || result.kind === 'unavailable') return writes.map(() => result);
  return await runOneByOne(context, writes);
}

/** Finds the write that the shared transaction failed for. If the database goes away or a lock stays taken, nobody else waits. */
async function runOneByOne(context: TransactionContext, writes: PendingWrite[]): Promise<TransactionOutcomes> {
  const outcomes: TransactionOutcomes = [];
  for (const write of writes) {
    const unavailable = outcomes.find((outcome) => outcome !== NEXT_BATCH && outcome.kind === 'unavailable');
    if (unavailable !== undefined) outcomes.push(unavailable);
    else if (performance.now() >= write.deadlineMs) outcomes.push(LATE);
    else outcomes.push(...(await runTogether(context, [write])));
  }
  return outcomes;
}
