import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWakeSignal } from '../../concurrency/wake-signal.ts';
import type { Database } from '../../db/database.ts';
import { type Claimed, claimDue } from '../delivery-queue/claim.ts';
import { createOutcomeBuffer } from '../delivery-queue/outcome-buffer.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { dispatch } from '../sending/dispatch.ts';
import { createSender } from '../sending/send.ts';
import type { SsrfGuard } from '../sending/ssrf-guard.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { type Notice, startMaintenance } from './maintenance.ts';
import { createServerClock } from './server-clock.ts';
import { LIMITS, type WorkerLimits } from './worker-limits.ts';

/**
 * The worker: claims due deliveries, signs and sends them, and records how they ended. It holds nothing that matters in
 * memory. A worker that dies leaves leases behind, which run out; any number of workers share the work.
 */
export type DeliveryWorker = {
  /** There may be new deliveries: look now instead of at the next poll. */
  wake(): void;
  /** Claims no more, lets attempts under way end, and records them. */
  stop(): Promise<void>;
};

export type DeliveryWorkerOptions = {
  db: Database;
  encryption: SecretEncryption;
  guard: SsrfGuard;
  now: () => Date | null;
  onFault: (error: unknown) => void;
  /** What an operator would want to know, though nothing is wrong with the service. */
  onNotice?: (notice: Notice) => void;
  limits?: Partial<WorkerLimits>;
};

const RECORD_LIMIT = 500;
/** Outcomes that could not be recorded yet; beyond this nothing more is claimed. */
const UNRECORDED_LIMIT = 5_000;
const FAULT_PAUSE_MS = 1_000;
/** After a look in vain; longer with each one that follows. */
const VAIN_PAUSE_MS = 1;
const VAIN_PAUSE_MAX_MS = 25;
/** While other workers have all of a receiver's places: they do not wake this one when one becomes free. */
const CROWDED_POLL_MS = 5;
const CROWDED_POLL_MAX_MS = 250;
/** How long a worker leaves a receiver alone that it cannot sign for; another one may have the key. */
const UNSIGNABLE_REST_MS = 30_000;
const TOKEN_MAX = 2 ** 47;

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const limits = { ...LIMITS, ...options.limits };
  const { db, encryption, guard, onFault } = options;
  const sender = createSender({ guard, timeoutMs: limits.attemptTimeoutMs });
  const slots = createConcurrencyLimit(limits.inFlight, limits.inFlightPerEndpoint);
  const unrecorded = createOutcomeBuffer(db);
  const clock = createServerClock();
  const stopping = new AbortController();
  const claimSignal = createWakeSignal();
  const outcomeSignal = createWakeSignal();
  const maintenance = startMaintenance({
    ...options,
    limits,
    signal: stopping.signal,
    onDue: () => claimSignal.wake(),
  });
  /** Receivers that we cannot sign for, and until when they are left alone. */
  const resting = new Map<string, number>();
  /** Where the round over all receivers goes on. */
  let after = '';
  /** A worker waits for places to become free only if that would let it claim more. */
  let isRoomWanted = false;
  let isRecordingBehind = false;
  let isClaiming = true;
  /** What a lease leaves beside the attempt is for the way of the claim's answer and for recording, a half each. */
  const recordMs = (limits.leaseMs - limits.attemptTimeoutMs) / 2;

  /** Claims once; 'more' while receivers of this round have not been looked at, 'nothing' or 'crowded' if none was taken. */
  async function claim(): Promise<'more' | 'all' | 'nothing' | 'crowded'> {
    const { total: limit, perEndpoint } = slots.available(maintenance.workers());
    const bytes = limits.inFlightBytes - slots.bytes();
    // Also for places that become free while the claim is made.
    isRoomWanted = true;
    // What is not recorded yet would be taken for abandoned, so that comes first when the database is back.
    if (limit === 0 || bytes <= 0 || isRecordingBehind || unrecorded.size() > UNRECORDED_LIMIT) return 'all';
    const askedAt = performance.now();
    for (const [receiver, until] of resting) if (until <= askedAt) resting.delete(receiver);
    const { claimed, next, ...seen } = await claimDue(db, {
      limit,
      bytes,
      inFlight: slots.inFlight,
      perReceiver: perEndpoint,
      front: limits.inFlightPerEndpoint,
      ended: unrecorded.byReceiver,
      isAlone: maintenance.workers() === 1,
      resting: [...resting.keys()],
      after,
      leaseToken: randomInt(1, TOKEN_MAX),
      leaseMs: limits.leaseMs,
      now: options.now(),
    });
    after = next ?? '';
    const arrivedAt = performance.now();
    clock.observe({ askedAt, arrivedAt, serverMs: seen.nowMs });
    maintenance.noteOff(seen.stopped);
    // The lease began after we asked for it, so it lasts at least until then.
    if (arrivedAt + limits.attemptTimeoutMs + recordMs > askedAt + limits.leaseMs) giveBack(claimed);
    else for (const delivery of claimed) void attempt(delivery);
    isRoomWanted = seen.isLimited;
    if (next !== null) return 'more';
    if (claimed.length > 0) return 'all';
    return seen.isCrowded && slots.total() === 0 ? 'crowded' : 'nothing';
  }

  async function attempt(delivery: Claimed): Promise<void> {
    const { integrationId, id, row, url, attempts, leaseToken, body } = delivery;
    slots.acquire(integrationId, body.length);
    try {
      const result = await dispatch(sender, encryption, delivery, options.now() ?? clock.now());
      const endedAt = options.now() ?? clock.latest();
      unrecorded.add({ delivery: { integrationId, id, row, url, attempts, leaseToken }, result, endedAt });
    } catch (error) {
      giveBack([delivery]);
      rest(integrationId, error);
    }
    slots.release(integrationId, body.length);
    outcomeSignal.wake();
    if (isRoomWanted) claimSignal.wake();
  }

  function giveBack(claimed: Claimed[]): void {
    for (const { id, row, leaseToken } of claimed) unrecorded.giveBack({ id, row, leaseToken });
    outcomeSignal.wake();
  }

  /** A fault of our own costs the delivery no attempt. It is told once, not for each of them. */
  function rest(integrationId: string, error: unknown): void {
    if (resting.has(integrationId)) return;
    resting.set(integrationId, performance.now() + UNSIGNABLE_REST_MS);
    onFault(error);
  }

  async function claimLoop(): Promise<void> {
    let vainPauseMs = VAIN_PAUSE_MS;
    let crowdedPollMs = CROWDED_POLL_MS;
    while (!stopping.signal.aborted) {
      try {
        const found = await claim();
        // Commits wake it whether or not they leave a delivery; a look in vain is not repeated for each of them.
        if (found === 'nothing') await pause(vainPauseMs);
        vainPauseMs = found === 'nothing' ? Math.min(vainPauseMs * 2, VAIN_PAUSE_MAX_MS) : VAIN_PAUSE_MS;
        crowdedPollMs = found === 'crowded' ? Math.min(crowdedPollMs * 2, CROWDED_POLL_MAX_MS) : CROWDED_POLL_MS;
        if (found !== 'more') await claimSignal.wait(found === 'crowded' ? crowdedPollMs : limits.pollMs);
      } catch (error) {
        onFault(error);
        await pause(FAULT_PAUSE_MS);
      }
    }
    isClaiming = false;
    outcomeSignal.wake();
  }

  /** Records in batches. While the database is away the outcomes wait, and nothing more is claimed. */
  async function recordLoop(): Promise<void> {
    while (isClaiming || slots.total() > 0 || unrecorded.size() > 0) {
      try {
        if (unrecorded.size() === 0) await outcomeSignal.wait(limits.pollMs);
        maintenance.noteRecorded(await unrecorded.record(RECORD_LIMIT));
        isRecordingBehind = false;
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
    async stop() {
      stopping.abort();
      claimSignal.wake();
      await loops;
      await maintenance.ended();
      await sender.close();
    },
  };
}
