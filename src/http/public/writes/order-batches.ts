import { ApiError, type ErrorCode } from '../../../contract/errors.ts';
import { presentOrder } from '../../../sales/change-order.ts';
import type { OrderDraft, OrderScope } from '../../../sales/order-draft.ts';
import { type Placed, placeOrders } from '../../../sales/place-orders.ts';
import type { AppOptions } from '../../app-options.ts';
import { writeFault } from '../database-faults.ts';
import {
  findRecords,
  type NewAnswer,
  type Outcome,
  recordAnswers,
  replayOf,
  tryLockKeys,
  type WriteRequest,
} from './idempotency-records.ts';
import { createTurns, isHopeless, tooLate } from './lock-queue.ts';

/**
 * Takes in reported orders. Orders of one integration need its clock until their commit, so those that arrive together
 * share a transaction: one wait for the clock and the disk instead of one each. Each keeps its own key, its own answer
 * and its own errors; if the write fails that they share, each is tried alone.
 */
export type OrderIntake = { place(report: OrderReport): Promise<Outcome> };

export type OrderReport = {
  scope: OrderScope;
  /** The version in which the answer is written, and replayed. */
  apiVersion: string;
  request: WriteRequest;
  draft: OrderDraft;
  /** Until when it waits for its turn. */
  deadlineMs: number;
};

const BATCH_LIMIT = 25;
const NOTHING: Placed = { documents: [], touched: [] };

export function createOrderIntake({ db, channel }: AppOptions): OrderIntake {
  async function placeTogether(reports: OrderReport[]): Promise<Outcome[]> {
    try {
      return await inOneTransaction(reports);
    } catch (error) {
      const fault = writeFault('insert_failed', error);
      return reports.length === 1 || isHopeless(fault) ? reports.map(() => fault) : await oneAfterTheOther(reports);
    }
  }

  /** Finds the one that the shared write failed for. If the database goes away or a lock stays taken, nobody else waits. */
  async function oneAfterTheOther(reports: OrderReport[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const report of reports) {
      const hopeless = outcomes.find(isHopeless) ?? (performance.now() < report.deadlineMs ? undefined : tooLate());
      outcomes.push(...(hopeless === undefined ? await placeTogether([report]) : [hopeless]));
    }
    return outcomes;
  }

  async function inOneTransaction(reports: OrderReport[]): Promise<Outcome[]> {
    let step: ErrorCode = 'lookup_failed';
    let touched: string[] = [];
    let settled: Outcome[];
    const now = channel.now();
    const requests = reports.map((report) => report.request);
    const [first] = reports as [OrderReport];
    try {
      settled = await db.transaction(
        async (tx) => {
          step = 'lookup_failed';
          const isLocked = await tryLockKeys(tx, requests);
          const records = await findRecords(tx, requests, now);
          const outcomes = new Map<OrderReport, Outcome>();
          const open: OrderReport[] = [];
          for (const [index, report] of reports.entries()) {
            const record = records.get(report.request.key);
            if (record !== undefined) outcomes.set(report, replayOf(record, report.request));
            else if (isLocked[index]) open.push(report);
          }
          step = 'insert_failed';
          const drafts = open.map((report) => report.draft);
          const placed = drafts.length === 0 ? NOTHING : await placeOrders(tx, channel, first.scope, drafts);
          touched = placed.touched;
          const answers: NewAnswer[] = [];
          for (const [index, report] of open.entries()) {
            const { request, apiVersion } = report;
            const document = placed.documents[index] ?? null;
            if (document === null) {
              outcomes.set(report, new ApiError('duplicate_channel_order_id', { param: 'channel_order_id' }));
              continue;
            }
            const body = presentOrder(channel, apiVersion, document);
            const answer = { status: 201, body, requestId: request.requestId };
            answers.push({ request, answer, isTest: first.scope.isTest });
            outcomes.set(report, { answer, isReplay: false });
          }
          await recordAnswers(tx, answers, now);
          return reports.map((report) => outcomes.get(report) ?? 'busy');
        },
        { planning: 'once' },
      );
    } catch (error) {
      throw writeFault(step, error);
    }
    if (touched.length > 0) channel.onEvents(touched);
    return settled;
  }

  const turns = createTurns(placeTogether, BATCH_LIMIT);
  // All orders of a batch have one scope: one dealer, and all live or all test.
  return { place: (report) => turns(Object.values(report.scope).join(' '), report) };
}
