import { commitAndWake } from '../../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../../channel/context.ts';
import { createKeyedQueue } from '../../../concurrency/keyed-queue.ts';
import { LOCK_NOT_AVAILABLE, sqlState, type Transaction } from '../../../db/database.ts';
import {
  findRecords,
  type NewRecord,
  recordAnswers,
  replayOf,
  tryLockKeys,
  type WriteRequest,
} from './idempotency-records.ts';
import { createKeysInFlight } from './keys-in-flight.ts';
import { isRefusal, type WorkDone, type WriteItem, type WriteKind } from './write-kind.ts';
import { BUSY, LATE, type TransactionFault, type WriteOutcome } from './write-outcome.ts';

/**
 * Runs every write of the API, once for its key. A write waits for its key (`keys-in-flight.ts`), then in the queue of
 * the lock that it needs. Writes that wait there together share a transaction; a single one is a batch of one. Each keeps
 * its own key, its own answer and its own error.
 *
 * The transaction: try the keys' locks, look for recorded answers, do the work, record the answers, commit.
 */
export type WriteExecutor = {
  run<Input>(kind: WriteKind<Input>, request: WriteRequest, item: WriteItem<Input>): Promise<WriteOutcome>;
};

type PendingWrite = {
  kind: WriteKind<unknown>;
  request: WriteRequest;
  item: WriteItem<unknown>;
  deadlineMs: number;
};

export function createWriteExecutor(channel: ChannelContext, waitLimitMs?: number): WriteExecutor {
  const keysInFlight = createKeysInFlight(waitLimitMs);
  const lockQueue = createKeyedQueue<PendingWrite, WriteOutcome>({
    run: (writes) => runTogether(channel, writes),
    batchLimit: ({ kind }) => kind.batchLimit,
    canJoin: canShareTransaction,
    // Those who wait would wait for the same connection or lock in vain, one after the other.
    resultForWaiting: (outcome) => (outcome.kind === 'unavailable' ? outcome : undefined),
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

/** A request keeps the mode and the organization that it was admitted with, also if they change while it waits. */
function canShareTransaction(one: PendingWrite, other: PendingWrite): boolean {
  const [a, b] = [one.item.integration, other.item.integration];
  return (
    one.kind === other.kind &&
    a.integrationId === b.integrationId &&
    a.organizationId === b.organizationId &&
    a.isTestMode === b.isTestMode
  );
}

async function runTogether(channel: ChannelContext, writes: PendingWrite[]): Promise<WriteOutcome[]> {
  const result = await inOneTransaction(channel, writes);
  if (Array.isArray(result)) return result;
  if (writes.length === 1 || result.kind === 'unavailable') return writes.map(() => result);
  return await runOneByOne(channel, writes);
}

/** Finds the write that the shared transaction failed for. If the database goes away or a lock stays taken, nobody else waits. */
async function runOneByOne(channel: ChannelContext, writes: PendingWrite[]): Promise<WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  for (const write of writes) {
    const unavailable = outcomes.find((outcome) => outcome.kind === 'unavailable');
    if (unavailable !== undefined) outcomes.push(unavailable);
    else if (performance.now() >= write.deadlineMs) outcomes.push(LATE);
    else outcomes.push(...(await runTogether(channel, [write])));
  }
  return outcomes;
}

/** The outcome of each write, or the fault that they have in common; then nothing was written. */
async function inOneTransaction(
  channel: ChannelContext,
  writes: PendingWrite[],
): Promise<WriteOutcome[] | TransactionFault> {
  const [{ kind }] = writes as [PendingWrite];
  const progress: Progress = { isWorking: false };
  try {
    const { outcomes } = await commitAndWake(channel, (tx) => runAll(tx, channel, writes, progress), kind.transaction);
    return outcomes;
  } catch (error) {
    if (isRefusal(error)) return { kind: 'refused', refusal: error };
    const hasNoLock = sqlState(error) === LOCK_NOT_AVAILABLE;
    return { kind: progress.isWorking && !hasNoLock ? 'failed' : 'unavailable', cause: error };
  }
}

/** How far a transaction has come: what fails before the work has nothing to do with it. */
type Progress = { isWorking: boolean };

async function runAll(
  tx: Transaction,
  channel: ChannelContext,
  writes: PendingWrite[],
  progress: Progress,
): Promise<{ outcomes: WriteOutcome[]; touched: string[] }> {
  // After a deadlock the database starts a transaction over.
  progress.isWorking = false;
  const now = channel.now();
  const requests = writes.map((write) => write.request);
  const isLocked = await tryLockKeys(tx, requests);
  const records = await findRecords(tx, requests, now);
  const outcomes = new Map<PendingWrite, WriteOutcome>();
  const open: PendingWrite[] = [];
  for (const [index, write] of writes.entries()) {
    const record = records.get(write.request.key);
    if (record !== undefined) outcomes.set(write, replayOf(record, write.request));
    else if (isLocked[index]) open.push(write);
  }
  progress.isWorking = true;
  const { results, touched } = await work(tx, channel, open);
  const answers: NewRecord[] = [];
  for (const [index, write] of open.entries()) {
    const result = results[index];
    if (result === undefined) throw new Error(`${open.length} writes got ${results.length} results`);
    if (isRefusal(result)) {
      outcomes.set(write, { kind: 'refused', refusal: result });
      continue;
    }
    const { request } = write;
    const answer = { status: result.status, body: result.body, requestId: request.requestId };
    answers.push({ request, answer, isTest: result.isTest });
    outcomes.set(write, { kind: 'answered', answer, isReplay: false });
  }
  await recordAnswers(tx, answers, now);
  return { outcomes: writes.map((write) => outcomes.get(write) ?? BUSY), touched };
}

async function work(tx: Transaction, channel: ChannelContext, open: PendingWrite[]): Promise<WorkDone> {
  const [first, ...others] = open;
  if (first === undefined) return { results: [], touched: [] };
  return await first.kind.work(tx, channel, [first.item, ...others.map((write) => write.item)]);
}
