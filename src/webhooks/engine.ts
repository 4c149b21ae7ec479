import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../contract/ids.ts';
import type { Database } from '../db/database.ts';
import { type Claimed, claimDue } from './claim.ts';
import type { Guard } from './guard.ts';
import { holdStopped, releaseHeld } from './held.ts';
import { pruneWebhooks } from './prune.ts';
import { type Outcome, recordOutcomes } from './record.ts';
import { runReplays } from './replay.ts';
import type { SealedBox } from './sealed-box.ts';
import { type AttemptResult, createSender } from './send.ts';
import { signature } from './sign.ts';

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
  inFlight: 512,
  inFlightPerReceiver: 64,
  leaseMs: 20_000,
  attemptTimeoutMs: 10_000,
  pollMs: 1_000,
  tidyMs: 500,
};

/** A claim that dies again and again with its worker is counted as a failure, lest it kill workers for ever. */
const TAKEOVER_LIMIT = 3;
const RECORD_LIMIT = 500;
const RECORD_PAUSE_MS = 5;
/** Outcomes that could not be recorded yet; beyond this nothing more is claimed. */
const UNRECORDED_LIMIT = 5_000;
const FAULT_PAUSE_MS = 1_000;
const PRUNE_EVERY_MS = 60_000;
const TOKEN_MAX = 2 ** 47;

export function startWebhookEngine(options: EngineOptions): WebhookEngine {
  const limits = { ...LIMITS, ...options.limits };
  const { db, box, guard, onFault } = options;
  const sender = createSender({
    guard,
    connectionsPerReceiver: limits.inFlightPerReceiver,
    timeoutMs: limits.attemptTimeoutMs,
  });
  const inFlight = new Map<string, number>();
  let inFlightTotal = 0;
  let outcomes: Outcome[] = [];
  let lastReceiver = '';
  const stopping = new AbortController();
  const bell = createBell();

  const time = () => options.now() ?? new Date();

  /** Claims once; true if there is reason to claim again at once. */
  async function claim(): Promise<boolean> {
    const room = limits.inFlight - inFlightTotal;
    if (room <= 0 || outcomes.length > UNRECORDED_LIMIT) return false;
    const { claimed, next } = await claimDue(db, {
      limit: room,
      inFlight,
      perReceiver: limits.inFlightPerReceiver,
      after: lastReceiver,
      leaseToken: randomInt(1, TOKEN_MAX),
      leaseMs: limits.leaseMs,
      now: options.now(),
    });
    const isEnd = next === '' && lastReceiver === '';
    lastReceiver = next;
    for (const delivery of claimed) void dispatch(delivery);
    return claimed.length > 0 || !isEnd;
  }

  async function dispatch(delivery: Claimed): Promise<void> {
    const { integrationId } = delivery;
    inFlight.set(integrationId, (inFlight.get(integrationId) ?? 0) + 1);
    inFlightTotal += 1;
    const result = await attempt(delivery).catch(
      (error: unknown): AttemptResult => ({
        isSuccess: false,
        responseCode: null,
        responseBody: null,
        error: error instanceof Error ? error.message : String(error),
      }),
    );
    const left = (inFlight.get(integrationId) ?? 1) - 1;
    if (left === 0) inFlight.delete(integrationId);
    else inFlight.set(integrationId, left);
    inFlightTotal -= 1;
    outcomes.push({ delivery, result, endedAt: time() });
    bell.ring();
  }

  async function attempt(delivery: Claimed): Promise<AttemptResult> {
    if (delivery.takeovers > TAKEOVER_LIMIT) {
      return {
        isSuccess: false,
        responseCode: null,
        responseBody: null,
        error: 'its worker died every time it was sent',
      };
    }
    const secrets = delivery.secrets.map((sealed) => box.open(sealed));
    const seconds = Math.floor(time().getTime() / 1000);
    return await sender.send({
      url: delivery.url,
      body: delivery.body,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Crownwheel-Webhooks',
        'X-SVC-Signature': signature(secrets, seconds, delivery.body),
        'X-SVC-Event-Id': delivery.eventId,
        'X-SVC-Event-Type': delivery.type,
        'X-SVC-Delivery-Id': delivery.dispatches === 0 ? delivery.id : newId('delivery'),
        'X-SVC-Delivery-Attempt': String(delivery.attempts + 1),
      },
    });
  }

  /** Records in batches; while the database is away the outcomes wait here, and their leases protect nobody else. */
  async function record(): Promise<boolean> {
    if (outcomes.length === 0) return false;
    const batch = outcomes.slice(0, RECORD_LIMIT);
    await recordOutcomes(db, batch);
    outcomes = outcomes.slice(batch.length);
    return true;
  }

  async function claimLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await claim()) continue;
        await bell.wait(limits.pollMs, stopping.signal);
      } catch (error) {
        onFault(error);
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async function recordLoop(): Promise<void> {
    while (!stopping.signal.aborted || inFlightTotal > 0 || outcomes.length > 0) {
      try {
        if (!(await record())) await sleep(RECORD_PAUSE_MS);
      } catch (error) {
        onFault(error);
        // When stopping, what can't be recorded is left to its lease.
        if (stopping.signal.aborted) return;
        await pause(FAULT_PAUSE_MS);
      }
    }
  }

  async function tidyLoop(): Promise<void> {
    let pruneAt = Date.now() + PRUNE_EVERY_MS;
    while (!stopping.signal.aborted) {
      try {
        await holdStopped(db);
        const released = await releaseHeld(db, options.now());
        const replayed = await runReplays(db, options.now());
        if (released + replayed > 0) bell.ring();
        if (Date.now() > pruneAt) {
          await pruneWebhooks(db, options.now());
          pruneAt = Date.now() + PRUNE_EVERY_MS;
        }
      } catch (error) {
        onFault(error);
      }
      await pause(limits.tidyMs);
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  const loops = Promise.all([claimLoop(), recordLoop(), tidyLoop()]);
  return {
    wake: () => bell.ring(),
    async stop() {
      stopping.abort();
      bell.ring();
      await loops;
      await sender.close();
    },
  };
}

/** Lets one loop sleep until it is rung or the time is up; a ring while it is awake is not lost. */
function createBell() {
  let isRung = false;
  let answer: (() => void) | null = null;
  return {
    ring() {
      isRung = true;
      answer?.();
    },
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (!isRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      answer = null;
      isRung = false;
    },
  };
}
