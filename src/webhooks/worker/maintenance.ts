import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../../concurrency/repeat.ts';
import type { Database } from '../../db/database.ts';
import { holdAndRelease, requestHolds, requestMissedReleases } from '../delivery-queue/hold-and-release.ts';
import type { AttemptOutcome } from '../delivery-queue/outcomes/attempt-outcome.ts';
import type { Recorded } from '../delivery-queue/outcomes/record-outcomes.ts';
import { pruneLeftovers, pruneWebhooks } from '../delivery-queue/prune.ts';
import { runReplays } from '../delivery-queue/replay.ts';
import { DUE_RETRIES_LIMIT, makeRetriesDue } from '../delivery-queue/retries/make-retries-due.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { reencryptSecrets } from '../endpoints/signing-secrets.ts';
import { HEARTBEAT_EVERY_MS, removeHeartbeat, sendHeartbeat } from './heartbeat.ts';
import type { WorkerLimits } from './worker-limits.ts';

/** 410 answers (GONE_LIMIT in a row) have switched endpoints off; deliveries have failed for the last time. */
export type Notice =
  | { kind: 'disabled'; integrationIds: string[] }
  | { kind: 'dead_letters'; counts: Record<string, number> };

/** Everything that a worker does beside sending; the list of tasks stands at the end of startMaintenance. */
export type Maintenance = {
  /** Endpoints that were off when something was due for them. */
  noteOff(integrationIds: string[]): void;
  noteRecorded(recorded: Recorded & { outcomes: AttemptOutcome[] }): void;
  /** How many workers are alive, this one included. */
  workers(): number;
  ended(): Promise<void>;
};

export type MaintenanceOptions = {
  db: Database;
  encryption: SecretEncryption;
  now: () => Date | null;
  onFault: (error: unknown) => void;
  onNotice?: (notice: Notice) => void;
  limits: WorkerLimits;
  signal: AbortSignal;
  /** There is something to claim now. */
  onDue: () => void;
};

const PRUNE_EVERY_MS = 60_000;
/** Also later than at the start: a command that was given other keys may have made a secret in between. */
const REENCRYPT_EVERY_MS = 3_600_000;
/** Dead letters are reported together. */
const NOTICE_EVERY_MS = 10_000;
const WORKER_ID_MAX = 2 ** 47;
const HOLD_STEPS = 5;
/** Between two steps of a replay that has something to send. */
const REPLAY_PAUSE_MS = 100;

/** The tasks run side by side, so that none waits for another's long batch. */
export function startMaintenance({
  db,
  encryption,
  limits,
  signal,
  onDue,
  onFault,
  ...options
}: MaintenanceOptions): Maintenance {
  const onNotice = options.onNotice ?? (() => {});
  const workerId = randomInt(1, WORKER_ID_MAX);
  let workers = 1;
  let endpointsOff = new Set<string>();
  let sweptTo = '';
  let deadLetters = new Map<string, number>();

  async function retry(): Promise<void> {
    let retries = 0;
    do {
      retries = await makeRetriesDue(db, options.now());
      if (retries > 0) onDue();
    } while (retries === DUE_RETRIES_LIMIT && !signal.aborted);
  }

  async function followSwitches(): Promise<void> {
    const off = [...endpointsOff];
    endpointsOff = new Set();
    await requestHolds(db, off);
    sweptTo = (await requestMissedReleases(db, sweptTo)) ?? '';
    for (let step = 0; step < HOLD_STEPS && !signal.aborted; step++) {
      const { released, isMore } = await holdAndRelease(db, options.now());
      if (released > 0) onDue();
      if (!isMore) return;
    }
  }

  async function replay(): Promise<void> {
    while (!signal.aborted && (await runReplays(db, options.now())) > 0) {
      onDue();
      await pause(Math.min(REPLAY_PAUSE_MS, limits.maintenanceMs));
    }
  }

  async function prune(): Promise<void> {
    await pruneLeftovers(db, options.now());
    while (!signal.aborted && (await pruneWebhooks(db, options.now())) > 0);
  }

  async function heartbeat(): Promise<void> {
    workers = await sendHeartbeat(db, workerId);
  }

  async function reencrypt(): Promise<void> {
    await reencryptSecrets(db, encryption);
  }

  async function reportDeadLetters(): Promise<void> {
    if (deadLetters.size === 0) return;
    onNotice({ kind: 'dead_letters', counts: Object.fromEntries(deadLetters) });
    deadLetters = new Map();
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal }).catch(() => {});
  }

  const repeating = { signal, onFault };
  const tasks = Promise.all([
    repeat(repeating, retry, limits.pollMs),
    repeat(repeating, followSwitches, limits.maintenanceMs),
    repeat(repeating, replay, limits.maintenanceMs),
    repeat(repeating, prune, PRUNE_EVERY_MS),
    repeat(repeating, reencrypt, REENCRYPT_EVERY_MS),
    repeat(repeating, reportDeadLetters, NOTICE_EVERY_MS),
    repeat(repeating, heartbeat, HEARTBEAT_EVERY_MS),
  ]);
  return {
    workers: () => workers,
    noteOff(integrationIds) {
      for (const integrationId of integrationIds) endpointsOff.add(integrationId);
    },
    noteRecorded({ disabled, deadLetters: more, outcomes }) {
      if (disabled.length > 0) onNotice({ kind: 'disabled', integrationIds: disabled });
      for (const [integrationId, count] of more) {
        deadLetters.set(integrationId, (deadLetters.get(integrationId) ?? 0) + count);
      }
      // What fails while its endpoint is being switched off waits for a retry that is not wanted.
      for (const { delivery, result } of outcomes) if (!result.isSuccess) endpointsOff.add(delivery.integrationId);
    },
    async ended() {
      await tasks;
      await reportDeadLetters();
      // If this fails, the heartbeat times out by itself.
      await removeHeartbeat(db, workerId).catch(() => {});
    },
  };
}
