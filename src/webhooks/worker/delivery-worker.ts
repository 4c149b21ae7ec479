import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOverTurns } from '../../concurrency/spread-over-turns.ts';
import { createWakeSignal } from '../../concurrency/wake-signal.ts';
import type { Database } from '../../db/database.ts';
import { type Claimed, claimDue } from '../delivery-queue/claim.ts';
import type { CommitClaims } from '../delivery-queue/claim-at-commit.ts';
import { createOutcomeBuffer } from '../delivery-queue/outcomes/outcome-buffer.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { createSender } from '../sending/send.ts';
import { signAndSend } from '../sending/sign-and-send.ts';
import type { SsrfGuard } from '../sending/ssrf-guard.ts';
import { openCommitClaims } from './commit-claims.ts';
import { CLAIM_SHARE, createConcurrencyLimit } from './concurrency-limit.ts';
import { createDatabaseTime } from './database-time.ts';
import { type Notice, startMaintenance } from './maintenance.ts';
import { WORKER_LIMITS, type WorkerLimits } from './worker-limits.ts';

/**
 * Claims due deliveries, signs and sends them, and records how they ended. It holds nothing that matters in memory: a
 * worker that dies leaves leases behind, which run out, and any number of workers share the work.
 *
 * Two loops run side by side, and maintenance beside them. How a claim ended decides when the next one is made:
 *
 * | claim ended | it means | the next claim |
 * |---|---|---|
 * | `more` | the round over all endpoints is not finished | at once |
 * | `done` | the round is finished and something was claimed, or nothing may be claimed now | when woken, or after `pollMs` |
 * | `idle` | the round is finished and nothing was due | after 1 to 25 ms, then when woken, or after `pollMs` |
 * | `saturated` | nothing is in flight here, and other workers have all slots of an endpoint | when woken, or after 5 to 250 ms |
 * | a fault | the database did not answer | after 1 s |
 *
 * A commit that leaves deliveries in the queue wakes it, and so does a slot that becomes free, if the last claim could have
 * used it. Most commits of this process leave nothing there: they claim their deliveries themselves (`claim-at-commit.ts`).
 *
 * | recording | it means | what happens |
 * |---|---|---|
 * | in time | outcomes are recorded in batches: the first at once, what ends in the 20 ms after a batch with the next | claims go on |
 * | behind | the last batch could not be recorded | nothing is claimed; the batch is tried again every second |
 * | stopping | `stop` was called | nothing is claimed; attempts in flight end and are recorded, or are left to their lease |
 */
export type DeliveryWorker = {
  /** There may be new deliveries: look now instead of at the next poll. */
  wake(): void;
  /** For one transaction of this process, whose commit may claim the deliveries that it writes; null if it may not now. */
  claimAtCommit(): CommitClaims | null;
  /** Claims no more, lets attempts in flight end, and records them. */
  stop(): Promise<void>;
};

export type DeliveryWorkerOptions = {
  db: Database;
  encryption: SecretEncryption;
  guard: SsrfGuard;
  now: () => Date | null;
  onFault: (error: unknown) => void;
  /** What an operator should know, although the service works. */
  onNotice?: (notice: Notice) => void;
  /** Called when outcomes of these integrations' deliveries are recorded; for pages that show them. */
  onRecorded?: (integrationIds: string[]) => void;
  limits?: Partial<WorkerLimits>;
};

type ClaimEnd = 'more' | 'done' | 'idle' | 'saturated';

/** To sign and to begin sending takes 0.1 ms. A claim can be a thousand deliveries, and others wait for the event loop. */
export const ATTEMPTS_PER_TURN = 8;
const RECORD_BATCH_LIMIT = 500;
/**
 * Outcomes that end within this time of a batch share the next one, unless they are as many as make a batch worth while. Nobody waits for
 * a record, but each takes a commit, whose flush the next event's commit has to wait for.
 */
const RECORD_PAUSE_MS = 20;
const RECORD_BATCH_WORTH = 100;
/** Outcomes that could not be recorded yet; beyond this nothing more is claimed. */
const OUTCOME_BUFFER_LIMIT = 5_000;
const FAULT_PAUSE_MS = 1_000;
/** After an idle claim; twice as long after each that follows. */
const IDLE_PAUSE_MS = 1;
const IDLE_PAUSE_MAX_MS = 25;
/** While other workers have all slots of an endpoint: they do not wake this one when a slot becomes free. */
const SATURATED_POLL_MS = 5;
const SATURATED_POLL_MAX_MS = 250;
/** How long a worker leaves an endpoint alone that it cannot sign for; another worker may have the key. */
const UNSIGNABLE_PAUSE_MS = 30_000;
const LEASE_TOKEN_MAX = 2 ** 47;

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const limits = { ...WORKER_LIMITS, ...options.limits };
  const { db, encryption, guard, onFault } = options;
  const sender = createSender({ guard, timeoutMs: limits.attemptTimeoutMs });
  const slots = createConcurrencyLimit(limits.inFlight, limits.inFlightPerEndpoint, limits.inFlightBytes);
  const buffer = createOutcomeBuffer(db);
  const databaseTime = createDatabaseTime();
  const stopping = new AbortController();
  const inTurn = spreadOverTurns(ATTEMPTS_PER_TURN);
  const claimSignal = createWakeSignal();
  const recordSignal = createWakeSignal();
  const onDue = () => claimSignal.wake();
  const maintenance = startMaintenance({ ...options, limits, signal: stopping.signal, onDue });
  /** Endpoints that this worker cannot sign for, and until when it leaves them alone. */
  const pausedUntilMs = new Map<string, number>();
  /** Where the round over all endpoints goes on. */
  let afterEndpoint = '';
  /** A free slot wakes the claim loop only if the last claim could have used it. */
  let isSlotWanted = false;
  let isRecordingBehind = false;
  let isClaiming = true;
  /** Slots that the claim under way has asked for. */
  let asked = 0;
  /** The lease is longer than an attempt: half of the rest is for the claim's answer to arrive, half for recording. */
  const recordMs = (limits.leaseMs - limits.attemptTimeoutMs) / 2;

  async function claim(): Promise<ClaimEnd> {
    const workers = maintenance.workers();
    const available = slots.available(workers);
    const maxBytes = Math.ceil((limits.inFlightBytes - slots.bytes()) / CLAIM_SHARE);
    const withManyBytes = slots.withManyBytes();
    // Also for slots that become free while the claim is made.
    isSlotWanted = true;
    if (available.total === 0 || maxBytes <= 0 || isBehind()) return 'done';
    const askedAt = performance.now();
    for (const [integrationId, untilMs] of pausedUntilMs) if (untilMs <= askedAt) pausedUntilMs.delete(integrationId);
    asked = available.total;
    const { claimed, nextAfter, ...seen } = await claimDue(db, {
      maxDeliveries: available.total,
      maxBytes,
      inFlight: slots.inFlight,
      slotsPerEndpoint: available.perEndpoint,
      inFlightByDealer: slots.inFlightByDealer,
      slotsPerDealer: available.perDealer,
      bytesByDealer: slots.bytesByDealer,
      bytesPerDealer: slots.bytesPerDealer,
      allSlotsPerEndpoint: limits.inFlightPerEndpoint,
      endedHere: buffer.endedByEndpoint,
      isAlone: workers === 1,
      pausedEndpoints: [...pausedUntilMs.keys(), ...withManyBytes.integrationIds],
      pausedDealers: withManyBytes.organizationIds,
      afterEndpoint,
      leaseToken: randomInt(1, LEASE_TOKEN_MAX),
      leaseMs: limits.leaseMs,
      now: options.now(),
    }).finally(() => {
      asked = 0;
    });
    afterEndpoint = nextAfter ?? '';
    databaseTime.observe({ askedAt, arrivedAt: performance.now(), databaseMs: seen.nowMs });
    maintenance.noteOff(seen.endpointsOff);
    sendClaimed(claimed, askedAt);
    isSlotWanted =
      seen.isLimited || withManyBytes.integrationIds.length > 0 || withManyBytes.organizationIds.length > 0;
    if (nextAfter !== null) return 'more';
    if (claimed.length > 0) return 'done';
    return seen.isSaturated && slots.total() === 0 ? 'saturated' : 'idle';
  }

  /**
   * The lease began after we asked for it, so it lasts at least until then. A claim whose answer comes after the stop is
   * given back as well: a stop waits only for attempts that had begun.
   */
  function sendClaimed(claimed: Claimed[], askedAt: number): void {
    const isLate = performance.now() + limits.attemptTimeoutMs + recordMs > askedAt + limits.leaseMs;
    if (isLate || stopping.signal.aborted) {
      releaseUnsent(claimed);
      return;
    }
    for (const delivery of claimed) {
      slots.acquire(delivery, delivery.body.length);
      inTurn(() => void attempt(delivery));
    }
  }

  function claimAtCommit(): CommitClaims | null {
    if (stopping.signal.aborted || isBehind()) return null;
    return openCommitClaims({
      limits,
      slots,
      leaseToken: randomInt(1, LEASE_TOKEN_MAX),
      now: options.now(),
      workers: maintenance.workers(),
      asked: () => asked,
      canClaim: (integrationId) => !stopping.signal.aborted && !pausedUntilMs.has(integrationId),
      onClaimed: sendClaimed,
      onCancelled: onSlotFree,
    });
  }

  /** What is not recorded yet would be taken for abandoned, so that comes first when the database is back. */
  function isBehind(): boolean {
    return isRecordingBehind || buffer.size() > OUTCOME_BUFFER_LIMIT;
  }

  async function attempt(delivery: Claimed): Promise<void> {
    const { integrationId, id, ctid, url, attempts, dispatches, leaseToken, body } = delivery;
    try {
      // The stop came before its turn.
      if (stopping.signal.aborted) {
        releaseUnsent([delivery]);
        return;
      }
      const startedAt = options.now() ?? databaseTime.now();
      const startedMs = performance.now();
      const result = await signAndSend(sender, encryption, delivery, startedAt);
      const durationMs = Math.round(performance.now() - startedMs);
      const endedAt = options.now() ?? databaseTime.latest();
      const attempted = { integrationId, id, ctid, url, attempts, dispatches, leaseToken };
      buffer.addOutcome({ delivery: attempted, result, startedAt, endedAt, durationMs });
    } catch (error) {
      releaseUnsent([delivery]);
      pauseEndpoint(integrationId, error);
    } finally {
      slots.release(delivery, body.length);
      recordSignal.wake();
      onSlotFree();
    }
  }

  function onSlotFree(): void {
    if (isSlotWanted) claimSignal.wake();
  }

  function releaseUnsent(claimed: Claimed[]): void {
    for (const { id, ctid, leaseToken } of claimed) buffer.addReleasedClaim({ id, ctid, leaseToken });
    recordSignal.wake();
  }

  /** A fault of our own costs the delivery no attempt. It is reported once for the endpoint, not for each delivery. */
  function pauseEndpoint(integrationId: string, error: unknown): void {
    if (pausedUntilMs.has(integrationId)) return;
    pausedUntilMs.set(integrationId, performance.now() + UNSIGNABLE_PAUSE_MS);
    onFault(error);
  }

  async function claimLoop(): Promise<void> {
    let idlePauseMs = IDLE_PAUSE_MS;
    let saturatedPollMs = SATURATED_POLL_MS;
    while (!stopping.signal.aborted) {
      try {
        const end = await claim();
        // A commit that did not claim its own deliveries wakes it whether or not it left one; not each is worth a claim.
        if (end === 'idle') await pause(idlePauseMs);
        idlePauseMs = end === 'idle' ? Math.min(idlePauseMs * 2, IDLE_PAUSE_MAX_MS) : IDLE_PAUSE_MS;
        saturatedPollMs =
          end === 'saturated' ? Math.min(saturatedPollMs * 2, SATURATED_POLL_MAX_MS) : SATURATED_POLL_MS;
        if (end !== 'more') await claimSignal.wait(end === 'saturated' ? saturatedPollMs : limits.pollMs);
      } catch (error) {
        onFault(error);
        await pause(FAULT_PAUSE_MS);
      }
    }
    isClaiming = false;
    recordSignal.wake();
  }

  async function recordLoop(): Promise<void> {
    while (isClaiming || slots.total() > 0 || buffer.size() > 0) {
      try {
        if (buffer.size() === 0) await recordSignal.wait(limits.pollMs);
        const recorded = await buffer.flush(RECORD_BATCH_LIMIT);
        maintenance.noteRecorded(recorded);
        if (recorded.outcomes.length > 0) {
          options.onRecorded?.([...new Set(recorded.outcomes.map(({ delivery }) => delivery.integrationId))]);
        }
        isRecordingBehind = false;
        if (buffer.size() < RECORD_BATCH_WORTH) await pause(RECORD_PAUSE_MS);
      } catch (error) {
        onFault(error);
        // When stopping, what can't be recorded is left to its lease.
        if (stopping.signal.aborted) return;
        isRecordingBehind = true;
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  const loops = Promise.all([claimLoop(), recordLoop()]);
  return {
    wake: () => claimSignal.wake(),
    claimAtCommit,
    async stop() {
      stopping.abort();
      claimSignal.wake();
      await loops;
      await maintenance.ended();
      await sender.close();
    },
  };
}
