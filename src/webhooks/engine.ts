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
import { ATTEMPT_TIMEOUT_MS } from './schedule.ts';
import type { SealedBox } from './sealed-box.ts';
import { createSender } from './send.ts';

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
  /** Longer than an attempt and its recording can take; an abandoned delivery waits this long. */
  leaseMs: number;
  attemptTimeoutMs: number;
  pollMs: number;
  /** Housekeeping: held rows, replays. */
  tidyMs: number;
};

const LIMITS: EngineLimits = {
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
const PRUNE_EVERY_MS = 60_000;
const TOKEN_MAX = 2 ** 47;

export function startWebhookEngine(options: EngineOptions): WebhookEngine {
  const limits = { ...LIMITS, ...options.limits };
  const { db, box, guard, onFault } = options;
  const sender = createSender({ guard, timeoutMs: limits.attemptTimeoutMs });
  const places = createPlaces(limits.inFlight, limits.inFlightPerReceiver);
  const stopping = new AbortController();
  const claimBell = createBell();
  const outcomeBell = createBell();
  let outcomes: Outcome[] = [];
  let stopped = new Set<string>();
  /** Where the round over all receivers goes on. */
  let after = '';
  /** A worker waits for places to become free only if that would let it claim more. */
  let isRoomWanted = false;
  let isRecordingBehind = false;
  let isClaiming = true;
  /** How far the database's clock is ahead: all workers write and compare times of that one. */
  let skewMs = 0;

  const time = () => options.now() ?? new Date(Date.now() + skewMs);

  /** Claims once; 'more' while receivers of this round have not been looked at, 'nothing' if none was due. */
  async function claim(): Promise<'more' | 'all' | 'nothing'> {
    const { limit, perReceiver } = places.room();
    // Also for places that become free while the claim is made.
    isRoomWanted = true;
    // What is not recorded yet would be taken for abandoned, so that comes first when the database is back.
    if (limit === 0 || isRecordingBehind || outcomes.length > UNRECORDED_LIMIT) return 'all';
    const { claimed, next, ...seen } = await claimDue(db, {
      limit,
      inFlight: places.inFlight,
      perReceiver,
      after,
      leaseToken: randomInt(1, TOKEN_MAX),
      leaseMs: limits.leaseMs,
      now: options.now(),
    });
    after = next ?? '';
    skewMs = seen.nowMs - Date.now();
    for (const integrationId of seen.stopped) stopped.add(integrationId);
    for (const delivery of claimed) void attempt(delivery);
    isRoomWanted = seen.isLimited;
    if (next !== null) return 'more';
    return claimed.length > 0 ? 'all' : 'nothing';
  }

  async function attempt(delivery: Claimed): Promise<void> {
    const { integrationId, id, url, attempts, leaseToken } = delivery;
    places.take(integrationId);
    const result = await dispatch(sender, box, delivery, time());
    places.leave(integrationId);
    outcomes.push({ delivery: { integrationId, id, url, attempts, leaseToken }, result, endedAt: time() });
    outcomeBell.ring();
    if (isRoomWanted) claimBell.ring();
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
    while (isClaiming || places.total() > 0 || outcomes.length > 0) {
      const batch = outcomes.slice(0, RECORD_LIMIT);
      try {
        if (batch.length === 0) await outcomeBell.wait(limits.pollMs);
        else await recordOutcomes(db, batch);
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

  const loops = Promise.all([claimLoop(), recordLoop(), repeat(tidy, limits.tidyMs), repeat(prune, PRUNE_EVERY_MS)]);
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
