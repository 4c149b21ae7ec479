import { setTimeout as sleep } from 'node:timers/promises';
import { watchStolenTime } from '../bench/stolen-time.ts';
import { type Attacker, type AttackOutcome, startAttacker } from './attacker.ts';
import type { Attack, AttackerAccount } from './attacks/attack.ts';
import { type BareServer, startBareServer } from './bare.ts';
import type { MeanAnswer } from './client.ts';
import { harmOf, isDisturbed, isSlow, SLOW } from './harm.ts';
import { middleOf } from './middle.ts';
import { type Neighbour, type Samples, type Served, servedIn, startNeighbour } from './neighbour.ts';
import { openParticipants, type Participants } from './participants.ts';
import { type AttackedService, startAttackedService } from './service.ts';

export type AttackOptions = {
  attacks: Attack[];
  seed: number;
  /** 1 is the full run. */
  scale: number;
  /** How many requests of the neighbour are measured under each attack, and as many in peace: half before it, half after. */
  samples: number;
  /** How often an attack is repeated until the neighbour has been measured that often, and how long it lasts at most. */
  roundsLimit: number;
  attackMs: number;
  /** What was begun under attack comes to its end before anything else is measured. */
  restMs: number;
  /** Whether an attack under which the neighbour is slow is also sent to a bare server, to tell whose doing it is. */
  hasComparison: boolean;
  /** Whether the attacker's process runs at the priority of the service, to see how many requests it could send. */
  hasSamePriority: boolean;
  /** How often a measurement that the host disturbed is repeated. */
  repeatsLimit: number;
  /** A measurement says nothing, and is repeated after a pause. */
  onDisturbed(result: AttackResult): void;
  onResult(result: AttackResult): void;
};

export type AttackResult = {
  name: string;
  rounds: number;
  statuses: Map<number, number>;
  /** Of all rounds together. */
  elapsedMs: number;
  /** What an answer had, on average. */
  answerBytes: number;
  quiet: Served;
  attacked: Served;
  /** The neighbour while the same requests went to a bare server; null if it was not measured. */
  bare: Served | null;
  /** Null if the service runs elsewhere. */
  pauseMs: number | null;
  busyMs: number | null;
  grownBytes: number | null;
  cpuMs: number | null;
  /** The part of the processors' time that the host of a virtual machine took away meanwhile. */
  stolen: number;
};

/** In peace the neighbour has a hundred answers a second; a service that gives less is measured with what there is. */
const QUIET_LIMIT_MS = 30_000;
const POLL_MS = 20;
/** The host mostly takes the processors for some minutes. */
const DISTURBED_PAUSE_MS = 30_000;

/** Starts a service on a fresh data folder and attacks it. */
export async function attackOwnService(options: AttackOptions): Promise<AttackResult[]> {
  const service = await startAttackedService();
  try {
    const participants = await openParticipants(service, options);
    try {
      return await attackAll(options, new URL(`http://127.0.0.1:${service.port}`), participants, service);
    } finally {
      await participants.close();
    }
  } finally {
    await service.stop();
  }
}

export async function attackAll(
  options: AttackOptions,
  origin: URL,
  participants: Pick<Participants, 'neighbour' | 'attacker'>,
  service: AttackedService | null,
): Promise<AttackResult[]> {
  const bareServer = options.hasComparison ? await startBareServer() : null;
  const neighbour = startNeighbour(origin, participants.neighbour);
  const attacker = startAttacker(options);
  const results: AttackResult[] = [];
  try {
    for (const attack of options.attacks) {
      const result = await measureUntilSure(options, async () => {
        const account = await participants.attacker(attack.needs);
        return await attackOnce(options, attack, { origin, account, neighbour, attacker, service, bareServer });
      });
      results.push(result);
      options.onResult(result);
    }
  } finally {
    await neighbour.stop();
    attacker.stop();
    bareServer?.stop();
  }
  return results;
}

type Stage = {
  account: AttackerAccount;
  origin: URL;
  neighbour: Neighbour;
  attacker: Attacker;
  service: AttackedService | null;
  bareServer: BareServer | null;
};

/**
 * A p99 consists of five requests, and one bad moment of the machine is enough for them. So an attack under which it is
 * too high is measured three times, each time with a new account, and the p99 in the middle counts.
 */
async function measureUntilSure(options: AttackOptions, measure: () => Promise<AttackResult>): Promise<AttackResult> {
  const first = await measureUndisturbed(options, measure);
  if (!options.hasComparison || !harmOf(first).includes(SLOW)) return first;
  const second = await measureUndisturbed(options, measure);
  return middleOf([first, second, await measureUndisturbed(options, measure)]);
}

/** What the host disturbed, by taking the processors away, is measured again when it may have given them back. */
async function measureUndisturbed(
  { repeatsLimit, onDisturbed }: AttackOptions,
  measure: () => Promise<AttackResult>,
): Promise<AttackResult> {
  for (let repeated = 0; ; repeated++) {
    const result = await measure();
    if (!isDisturbed(result) || repeated === repeatsLimit) return result;
    onDisturbed(result);
    await sleep(DISTURBED_PAUSE_MS);
  }
}

async function attackOnce(options: AttackOptions, attack: Attack, stage: Stage): Promise<AttackResult> {
  const { service } = stage;
  await stage.attacker.prepare(attack.name);
  const stolenTime = watchStolenTime();
  const quietBefore = await measureQuiet(options, stage);
  const before = (await service?.sample()) ?? null;
  const { samples, outcome } = await measureAttack(options, attack, stage);
  const after = (await service?.sample()) ?? null;
  const quiet = servedIn(quietBefore, await measureQuiet(options, stage));
  const attacked = servedIn(samples);
  return {
    name: attack.name,
    rounds: outcome.rounds,
    statuses: new Map(outcome.statuses),
    elapsedMs: outcome.elapsedMs,
    answerBytes: outcome.answer.bytes,
    quiet,
    attacked,
    bare: isSlow(attacked, quiet) ? await compare(options, attack, stage, outcome.answer) : null,
    stolen: stolenTime(),
    pauseMs: after === null ? null : after.pauseMs,
    busyMs: after === null ? null : after.busyMs,
    grownBytes: before === null || after === null ? null : Math.max(0, after.peakRssBytes - before.rssBytes),
    cpuMs: before === null || after === null ? null : after.cpuMs - before.cpuMs,
  };
}

async function measureQuiet({ samples, restMs }: AttackOptions, { neighbour }: Stage): Promise<Samples> {
  await sleep(restMs);
  neighbour.begin();
  const giveUpAt = performance.now() + QUIET_LIMIT_MS;
  while (neighbour.count() < samples / 2 && performance.now() < giveUpAt) await sleep(POLL_MS);
  return await neighbour.end();
}

/** Repeats the attack, as one client after another could, until the neighbour has enough samples or the time is up. */
async function measureAttack(
  options: AttackOptions,
  { name }: Attack,
  { origin, account, neighbour, attacker }: Stage,
): Promise<{ samples: Samples; outcome: AttackOutcome }> {
  const { seed, scale, roundsLimit, attackMs } = options;
  const order = { name, origin: origin.href, account, seed, scale, roundsLimit, attackMs };
  neighbour.begin();
  const outcome = await attacker.run(order, () => neighbour.count() >= options.samples);
  return { samples: await neighbour.end(), outcome };
}

/** The neighbour beside the same requests, sent to a server that does nothing with them at the same pace. */
async function compare(
  options: AttackOptions,
  attack: Attack,
  stage: Stage,
  answer: MeanAnswer,
): Promise<Served | null> {
  const { bareServer } = stage;
  if (bareServer === null) return null;
  await sleep(options.restMs);
  await bareServer.answerLike(answer);
  const { samples } = await measureAttack(options, attack, { ...stage, origin: bareServer.origin });
  return servedIn(samples);
}
