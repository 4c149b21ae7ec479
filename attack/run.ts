import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attacks/attack.ts';
import { type Cast, openCast } from './cast.ts';
import { createClient } from './client.ts';
import { type Neighbour, type Served, startNeighbour } from './neighbour.ts';
import { seededRandom } from './random.ts';
import { type AttackedService, startAttackedService } from './service.ts';

export type AttackOptions = {
  attacks: Attack[];
  seed: number;
  /** 1 is the full run. */
  scale: number;
  /** How long each attack lasts at most, and how long the neighbour is measured in peace before it. */
  attackMs: number;
  quietMs: number;
  onResult(result: AttackResult): void;
};

export type AttackResult = {
  name: string;
  statuses: Map<number, number>;
  quiet: Served;
  attacked: Served;
  /** Null if the service runs elsewhere. */
  pauseMs: number | null;
  busyMs: number | null;
  grownBytes: number | null;
  cpuMs: number | null;
};

/** What was begun under attack comes to its end before the next one is measured. */
const REST_MS = 2_000;

/** Starts a service on a fresh data folder and attacks it. */
export async function attackOwnService(options: AttackOptions): Promise<AttackResult[]> {
  const service = await startAttackedService();
  try {
    const cast = await openCast(service, options.scale);
    try {
      return await attackAll(options, new URL(`http://127.0.0.1:${service.port}`), cast, service);
    } finally {
      await cast.close();
    }
  } finally {
    await service.stop();
  }
}

export async function attackAll(
  options: AttackOptions,
  origin: URL,
  cast: Pick<Cast, 'neighbourKey' | 'attacker'>,
  service: AttackedService | null,
): Promise<AttackResult[]> {
  const neighbour = startNeighbour(origin, cast.neighbourKey);
  const results: AttackResult[] = [];
  try {
    for (const attack of options.attacks) {
      const { key, photos } = await cast.attacker(attack.needs);
      const result = await attackOnce(options, attack, { origin, key, photos, neighbour, service });
      results.push(result);
      options.onResult(result);
    }
  } finally {
    await neighbour.stop();
  }
  return results;
}

type Stage = { origin: URL; key: string; photos: string[]; neighbour: Neighbour; service: AttackedService | null };

async function attackOnce(options: AttackOptions, attack: Attack, stage: Stage): Promise<AttackResult> {
  const { neighbour, service } = stage;
  await sleep(Math.min(REST_MS, options.quietMs));
  neighbour.begin();
  await sleep(options.quietMs);
  const quiet = await neighbour.end();

  const client = createClient(stage.origin, stage.key, AbortSignal.timeout(options.attackMs));
  const before = (await service?.sample()) ?? null;
  neighbour.begin();
  try {
    const { key, photos } = stage;
    await attack.run({ client, key, photos, random: seededRandom(options.seed), scale: options.scale });
  } finally {
    client.end();
  }
  const attacked = await neighbour.end();
  const after = (await service?.sample()) ?? null;
  return {
    name: attack.name,
    statuses: client.statuses,
    quiet,
    attacked,
    pauseMs: after === null ? null : after.pauseMs,
    busyMs: after === null ? null : after.busyMs,
    grownBytes: before === null || after === null ? null : Math.max(0, after.peakRssBytes - before.rssBytes),
    cpuMs: before === null || after === null ? null : after.cpuMs - before.cpuMs,
  };
}
