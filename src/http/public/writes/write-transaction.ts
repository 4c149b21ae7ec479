import { commitAndWake } from '../../../channel/commit-and-wake.ts';
import type { ChannelContext } from '../../../channel/context.ts';
import { NEXT_BATCH } from '../../../concurrency/keyed-queue.ts';
import { ApiError } from '../../../contract/errors.ts';
import { talliedDatabase } from '../../../db/counted-database.ts';
import { LOCK_NOT_AVAILABLE, sqlState, type Transaction } from '../../../db/database.ts';
import { isInTestMode } from '../../../dealers/integrations/integrations.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import {
  findRecords,
  type NewRecord,
  recordAnswers,
  replayOf,
  tryLockKeys,
  type WriteRequest,
} from './idempotency-records.ts';
import { diskNearlyFull, leastBytes, quotaExceeded, quotaOf } from './storage-quota.ts';
import { isRefusal, type WorkDone, type WriteItem, type WriteKind } from './write-kind.ts';
import { BUSY, type TransactionFault, type WriteOutcome } from './write-outcome.ts';

/** A write on its way; those of one transaction are of one kind, one integration and one mode. */
export type PendingWrite = {
  kind: WriteKind<unknown>;
  request: WriteRequest;
  item: WriteItem<unknown>;
  deadlineMs: number;
};

export type TransactionContext = { channel: ChannelContext; quotaMbPerDay: number; isDiskLow(): boolean };

/** What becomes of each write of a transaction. Some are left for the next one if their documents are large. */
export type TransactionOutcomes = (WriteOutcome | typeof NEXT_BATCH)[];

/** How far a transaction has come: what fails before the work has nothing to do with it. */
type Progress = { isWorking: boolean; storedBytes(): number };

/**
 * Runs writes in one transaction: try the locks of their keys, look for recorded answers, check the storage quota, do the
 * work, record the answers, commit. Returns the outcome of each write, or the fault that they have in common;
 * then nothing was written.
 */
export async function runInTransaction(
  context: TransactionContext,
  writes: PendingWrite[],
): Promise<TransactionOutcomes | TransactionFault> {
  const [{ kind }] = writes as [PendingWrite];
  const tally = talliedDatabase(context.channel.db);
  const progress: Progress = { isWorking: false, storedBytes: tally.storedBytes };
  try {
    const run = (tx: Transaction) => runSteps(tx, context, writes, progress);
    const { outcomes } = await commitAndWake({ ...context.channel, db: tally.db }, run, kind.transaction);
    return outcomes;
  } catch (error) {
    if (isRefusal(error)) return { kind: 'refused', refusal: error };
    const hasNoLock = sqlState(error) === LOCK_NOT_AVAILABLE;
    return { kind: progress.isWorking && !hasNoLock ? 'failed' : 'unavailable', cause: error };
  }
}

async function runSteps(
  tx: Transaction,
  context: TransactionContext,
  writes: PendingWrite[],
  progress: Progress,
): Promise<{ outcomes: TransactionOutcomes; touched: string[] }> {
  // After a deadlock the database starts a transaction over.
  progress.isWorking = false;
  const now = context.channel.now();
  const [{ kind, item }] = writes as [PendingWrite];
  // The lock of a key is tried before the first lock that is waited for: the statements run in the order of the calls.
  const [{ outcomes, open }, prepared] = await Promise.all([
    admit(tx, context, writes, now),
    kind.prepare?.(tx, context.channel, item.integration),
  ]);
  progress.isWorking = true;
  const { results, touched } = await work(tx, context.channel, open, prepared);
  if (open.length > 0 && item.integration.isTestMode) await assertTestMode(tx, item.integration);
  const records: NewRecord[] = [];
  for (const [index, result] of results.entries()) {
    const write = open[index];
    if (write === undefined) throw new Error(`${open.length} writes got ${results.length} results`);
    if (isRefusal(result)) {
      outcomes.set(write, { kind: 'refused', refusal: result });
      continue;
    }
    const { request } = write;
    const answer = { status: result.status, body: result.body, requestId: request.requestId };
    records.push({ request, answer, isTest: result.isTest });
    outcomes.set(write, { kind: 'answered', answer, isReplay: false });
  }
  recordAnswers(tx, records, { storedBytes: progress.storedBytes(), now });
  return { outcomes: writes.map((write) => outcomes.get(write) ?? NEXT_BATCH), touched };
}

type Sorted = { outcomes: Map<PendingWrite, WriteOutcome>; open: PendingWrite[] };

/**
 * Sorts out what needs no work: replays, keys that are busy elsewhere, and what no longer fits on the disk or into the quota. A
 * replay whose record was not read is left for the next transaction.
 */
async function admit(
  tx: Transaction,
  { quotaMbPerDay, isDiskLow }: TransactionContext,
  writes: PendingWrite[],
  testTime: Date | null,
): Promise<Sorted> {
  const requests = writes.map((write) => write.request);
  const [{ item: first }] = writes as [PendingWrite];
  const quota = quotaOf(first.integration, quotaMbPerDay);
  const [isLocked, { records, storedBytes, dealerBytes, now }] = await Promise.all([
    tryLockKeys(tx, requests),
    findRecords(tx, requests, quota, testTime),
  ]);
  const sorted: Sorted = { outcomes: new Map(), open: [] };
  let leftBytes = Math.min(quota.bytes - storedBytes, quota.dealerBytes - dealerBytes);
  for (const [index, write] of writes.entries()) {
    const { request } = write;
    const record = records.get(request.key);
    if (record === 'not read') continue;
    if (record !== undefined) sorted.outcomes.set(write, replayOf(record, request));
    else if (!isLocked[index]) sorted.outcomes.set(write, BUSY);
    else if (isDiskLow()) sorted.outcomes.set(write, { kind: 'refused', refusal: diskNearlyFull() });
    else if (leftBytes <= 0) sorted.outcomes.set(write, { kind: 'refused', refusal: quotaExceeded(now) });
    else {
      leftBytes -= leastBytes(request);
      sorted.open.push(write);
    }
  }
  return sorted;
}

/**
 * A test write that waited while its integration went live is refused: the deletion of test data, which goes with it, would
 * have missed it. Asked after the work, which has taken the clock or the customers' lock, as going live has until its commit.
 */
async function assertTestMode(tx: Transaction, { integrationId }: AdmittedIntegration): Promise<void> {
  if (!(await isInTestMode(tx, integrationId))) throw new ApiError('lookup_failed', { message: WENT_LIVE });
}

const WENT_LIVE = 'The integration went live while this test request waited. Nothing was changed; retried, it is live.';

async function work(
  tx: Transaction,
  channel: ChannelContext,
  open: PendingWrite[],
  prepared: unknown,
): Promise<WorkDone> {
  const [first, ...others] = open;
  if (first === undefined) return { results: [], touched: [] };
  return await first.kind.work(tx, channel, [first.item, ...others.map((write) => write.item)], prepared);
}
