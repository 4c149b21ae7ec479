import { ApiError, type ErrorCode } from '../../contract/errors.ts';
import type { OrderDraft } from '../../sales/order-draft.ts';
import { type OrderScope, placeOrders } from '../../sales/place-orders.ts';
import type { AppOptions } from '../app.ts';
import { gather } from './gather.ts';
import {
  findRecords,
  lockKey,
  recordAnswers,
  replayOf,
  type Settled,
  tryLockKeys,
  type WriteAnswer,
  type WriteRequest,
} from './idempotency.ts';

/**
 * Takes in reported orders. Orders of one integration need its clock until their commit, so those that arrive together
 * share a transaction: one wait for the clock and the disk instead of one each. Each keeps its own key, its own answer
 * and its own errors; if the shared transaction fails, each is tried alone.
 */
export type OrderIntake = { place(scope: OrderScope, request: WriteRequest, draft: OrderDraft): Promise<Settled> };

type Report = { scope: OrderScope; request: WriteRequest; draft: OrderDraft };
/** A settled answer, the client's own error, or "busy": another node runs this key, so it has to be waited for. */
type Outcome = Settled | ApiError | 'busy';

const BATCH_LIMIT = 25;
const NOTHING = { placements: [], touched: [] };

export function createOrderIntake({ db, channel }: AppOptions): OrderIntake {
  const lanes = new Map<string, (report: Report) => Promise<Settled | ApiError>>();

  async function placeTogether(reports: Report[]): Promise<(Settled | ApiError | Promise<Settled>)[]> {
    if (reports.length === 1) return await Promise.all(reports.map(alone));
    const outcomes = await inOneTransaction(reports, false).catch(() => null);
    if (outcomes === null) return reports.map(alone);
    return outcomes.map((outcome, index) => (outcome === 'busy' ? alone(reports[index] as Report) : outcome));
  }

  async function alone(report: Report): Promise<Settled> {
    const [outcome] = await inOneTransaction([report], true);
    if (outcome === undefined || outcome === 'busy') throw new ApiError('lookup_failed');
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  }

  async function inOneTransaction(reports: Report[], isWaiting: boolean): Promise<Outcome[]> {
    let step: ErrorCode = 'lookup_failed';
    let touched: string[] = [];
    const now = channel.now();
    const requests = reports.map((report) => report.request);
    const [first] = reports as [Report];
    try {
      const outcomes = await db.transaction(async (tx) => {
        step = 'lookup_failed';
        if (isWaiting) await lockKey(tx, first.request);
        const isLocked = isWaiting ? [true] : await tryLockKeys(tx, requests);
        const records = await findRecords(tx, requests, now);
        const outcomes: (Outcome | null)[] = requests.map((request, index) => {
          if (!isLocked[index]) return 'busy';
          const record = records.get(request.key);
          return record === undefined ? null : settle(() => replayOf(record, request));
        });
        const open = reports.filter((_, index) => outcomes[index] === null);
        step = 'insert_failed';
        const drafts = open.map((report) => report.draft);
        const placed = drafts.length === 0 ? NOTHING : await placeOrders(tx, channel, first.scope, drafts);
        touched = placed.touched;
        const answers = new Map<WriteRequest, WriteAnswer>();
        for (const [index, { request }] of open.entries()) {
          const placement = placed.placements[index];
          if (placement === undefined || !('document' in placement)) continue;
          answers.set(request, { status: 201, body: placement.document, requestId: request.requestId });
        }
        await recordAnswers(
          tx,
          [...answers].map(([request, answer]) => ({ request, answer })),
          now,
        );
        return outcomes.map((outcome, index) => {
          if (outcome !== null) return outcome;
          const answer = answers.get(requests[index] as WriteRequest);
          return answer === undefined ? duplicate() : { answer, isReplay: false };
        });
      });
      if (touched.length > 0) channel.onEvents(touched);
      return outcomes;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError(step, { cause: error });
    }
  }

  return {
    async place(scope, request, draft) {
      // The mode is part of the lane: one batch is all live or all test.
      const name = `${scope.integrationId} ${scope.isTest}`;
      let lane = lanes.get(name);
      if (lane === undefined) {
        lane = gather(placeTogether as (reports: Report[]) => Promise<(Settled | ApiError)[]>, {
          onIdle: () => lanes.delete(name),
          batchLimit: BATCH_LIMIT,
        });
        lanes.set(name, lane);
      }
      const outcome = await lane({ scope, request, draft });
      if (outcome instanceof ApiError) throw outcome;
      return outcome;
    },
  };
}

function settle(work: () => Settled): Settled | ApiError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function duplicate(): ApiError {
  return new ApiError('duplicate_channel_order_id', { param: 'channel_order_id' });
}
