import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { createBell } from './bell.ts';
import { type Claimed, claimDue } from './claim.ts';
import { dispatch } from './dispatch.ts';
import type { Guard } from './guard.ts';
import { holdStopped, releaseHeld } from './held.ts';
import { createPlaces } from './places.ts';
import { pruneWebhooks } from './prune.ts';
import { type Outcome, recordOutcomes } from './record.ts';
import { runReplays } from './replay.ts';
import { type Returned, returnClaims } from './return.ts';
import { ATTEMPT_TIMEOUT_MS } from './schedule.ts';
import type { SealedBox } from './sealed-box.ts';
import { resealSecrets } from './secrets.ts';
import { createSender } from './send.ts';
import { createServerClock } from './server-clock.ts';

/**
 * The engine: claims due deliveries, signs and sends them, and records how they ended. It holds nothing that matters in
 * memory. A worker that dies leaves leases behind, which run out; any number of workers share the work.
 */
export type WebhookEngine = {
  /** There may be new deliveries: look now instead of at the next poll. */
  wake(): void;
  /** Claims no more, lets attempts under way end, and records them. */
  stop(): Promise<void>;
};

export type EngineOptions = {
  db: Database;
  box: SealedBox;
  guard: Guard;
  now: () => Date | null;
  onFault: (error: unknown) => void;
  limits?: Partial<EngineLimits>;
};

export type EngineLimits = {
  /** Attempts under way at once, in all and to one receiver. */
  inFlight: number;
  inFlightPerReceiver: number;
  /**
   * How long a claimed delivery belongs to its worker; an abandoned one waits this long. What it leaves beside the attempt
   * is for the answer of the claim and for the recording, a half each: a claim that was longer on its way is not sent.
   */
  leaseMs: number;
  attemptTimeoutMs: number;
  pollMs: number;
  /** Housekeeping: held rows, replays. */
  tidyMs: number;
};

export const LIMITS: EngineLimits = {
  inFlight: 1_024,
  inFlightPerReceiver: 64,
  leaseMs: 20_000,
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  pollMs: 1_000,
  tidyMs: 500,
};

const RECORD_LIMIT = 500;
/** Outcomes that could not be recorded yet; beyond this nothing more is claimed. */
const UNRECORDED_LIMIT = 5_000;
const FAULT_PAUSE_MS = 1_000;
const VAIN_PAUSE_MS = 25;
/** How long a worker leaves a receiver alone that it cannot sign for; another one may have the key. */
const UNSIGNABLE_REST_MS = 30_000;
const PRUNE_EVERY_MS = 60_000;
/** Also later than at the start: a command that was given other keys may have made a secret in between. */
const RESEAL_EVERY_MS = 3_600_000;
const TOKEN_MAX = 2 ** 47;

export function startWebhookEngine(options: EngineOptions): WebhookEngine {
  const limits = { ...LIMITS, ...options.limits };
  const { db, box, guard, onFault } = options;
  const sender = createSender({ guard, timeoutMs: limits.attemptTimeoutMs });
  const places = createPlaces(limits.inFlight, limits.inFlightPerReceiver);
  const stopping = new AbortController();
  const claimBell = createBell();
  const outcomeBell = createBell();
  const clock = createServerClock();
  /** Receivers that we cannot sign for, and until when they are left alone. */
  const resting = new Map<string, number>();
  let outcomes: Outcome[] = [];
  let returned: Returned[] = [];
  let stopped = new Set<string>();
  /** Where the round over all receivers goes on. */
  let after = '';
  /** A worker waits for places to become free only if that would let it claim more. */
  let isRoomWanted = false;
  let isRecordingBehind = false;
  let isClaiming = true;
  const recordMs = (limits.leaseMs - limits.attemptTimeoutMs) / 2;

  /** Claims once; 'more' while receivers of this round have not been looked at, 'nothing' if none was due. */
  async function claim(): Promise<'more' | 'all' | 'nothing'> {
    const { limit, perReceiver } = places.room();
    // Also for places that become free while the claim is made.
    isRoomWanted = true;
    // What is not recorded yet would be taken for abandoned, so that comes first when the database is back.
    if (limit === 0 || isRecordingBehind || outcomes.length > UNRECORDED_LIMIT) return 'all';
    const askedAt = performance.now();
    for (const [receiver, until] of resting) if (until <= askedAt) resting.delete(receiver);
    const { claimed, next, ...seen } = await claimDue(db, {
      limit,
      resting: [...resting.keys()],
      inFlight: places.inFlight,
      perReceiver,
      after,
      leaseToken: randomInt(1, TOKEN_MAX),
      leaseMs: limits.leaseMs,
      now: options.now(),
    });
    after = next ?? '';
    const arrivedAt = performance.now();
    clock.observe({ askedAt, arrivedAt, serverMs: seen.nowMs });
    for (const integrationId of seen.stopped) stopped.add(integrationId);
    // The lease began after we asked for it, so it lasts at least until then.
    if (arrivedAt + limits.attemptTimeoutMs + recordMs > askedAt + limits.leaseMs) giveBack(claimed);
    else for (const delivery of claimed) void attempt(delivery);
    isRoomWanted = seen.isLimited;
    if (next !== null) return 'more';
    return claimed.length > 0 ? 'all' : 'nothing';
  }

  async function attempt(delivery: Claimed): Promise<void> {
    const { integrationId, id, url, attempts, leaseToken } = delivery;
    places.take(integrationId);
    try {
      const result = await dispatch(sender, box, delivery, options.now() ?? clock.now());
      const endedAt = options.now() ?? clock.latest();
      outcomes.push({ delivery: { integrationId, id, url, attempts, leaseToken }, result, endedAt });
    } catch (error) {
      giveBack([delivery]);
      rest(integrationId, error);
    }
    places.leave(integrationId);
    outcomeBell.ring();
    if (isRoomWanted) claimBell.ring();
  }

  function giveBack(claimed: Claimed[]): void {
    returned.push(...claimed.map(({ integrationId, id, leaseToken }) => ({ integrationId, id, leaseToken })));
    outcomeBell.ring();
  }

  /** A fault of our own costs the delivery no attempt. It is told once, not for each of them. */
  function rest(integrationId: string, error: unknown): void {
    if (resting.has(integrationId)) return;
    resting.set(integrationId, performance.now() + UNSIGNABLE_REST_MS);
    onFault(error);
  }

  async function claimLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const found = await claim();
        // Commits ring whether or not they leave a delivery; a look in vain is not repeated for each of them.
        if (found === 'nothing') await pause(VAIN_PAUSE_MS);
        if (found !== 'more') await claimBell.wait(limits.pollMs);
      } catch (error) {
        onFault(error);
        await pause(FAULT_PAUSE_MS);
      }
    }
    isClaiming = false;
    outcomeBell.ring();
  }

  /** Records in batches. While the database is away the outcomes wait here, and nothing more is claimed. */
  async function recordLoop(): Promise<void> {
    while (isClaiming || places.total() > 0 || outcomes.length > 0 || returned.length > 0) {
      const batch = outcomes.slice(0, RECORD_LIMIT);
      const back = returned.slice(0, RECORD_LIMIT);
      try {
        if (batch.length + back.length === 0) await outcomeBell.wait(limits.pollMs);
        if (back.length > 0) await returnClaims(db, back);
        returned = returned.slice(back.length);
        if (batch.length > 0) await recordOutcomes(db, batch);
        outcomes = outcomes.slice(batch.length);
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

  async function tidy(): Promise<void> {
    const toHold = [...stopped];
    stopped = new Set();
    await holdStopped(db, toHold, options.now());
    const released = await releaseHeld(db, options.now());
    const replayed = await runReplays(db, options.now());
    if (released + replayed > 0) claimBell.ring();
  }

  async function prune(): Promise<void> {
    while (!stopping.signal.aborted && (await pruneWebhooks(db, options.now())) > 0);
  }

  async function reseal(): Promise<void> {
    await resealSecrets(db, box);
  }

  async function repeat(work: () => Promise<void>, everyMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
        await pause(everyMs);
      } catch (error) {
        onFault(error);
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  const loops = Promise.all([
    claimLoop(),
    recordLoop(),
    repeat(tidy, limits.tidyMs),
    repeat(prune, PRUNE_EVERY_MS),
    repeat(reseal, RESEAL_EVERY_MS),
  ]);
  return {
    wake: () => claimBell.ring(),
    async stop() {
      stopping.abort();
      claimBell.ring();
      await loops;
      await sender.close();
    },
  };
}
