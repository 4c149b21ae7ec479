import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackerMessage } from './attacker-process.ts';
import type { AttackerAccount } from './attacks/attack.ts';
import type { MeanAnswer } from './client.ts';

/** What to attack with, whom and for how long. */
export type AttackOrder = {
  name: string;
  origin: string;
  account: AttackerAccount;
  seed: number;
  scale: number;
  roundsLimit: number;
  attackMs: number;
};

export type AttackOutcome = {
  rounds: number;
  /** How many answers came with each status. */
  statuses: [status: number, count: number][];
  /** What an answer took and had, on average. */
  answer: MeanAnswer;
  elapsedMs: number;
};

/** The process that attacks, as the measuring process sees it. */
export type Attacker = {
  /** Makes what the attack sends, before anything is measured. */
  prepare(name: string): Promise<void>;
  /** Repeats the attack until it is enough, or its rounds or its time are over. */
  run(order: AttackOrder, isEnough: () => boolean): Promise<AttackOutcome>;
  stop(): void;
};

const POLL_MS = 20;
/** Beside the time of the attack itself: on a busy machine a process of low priority may wait long. */
const PATIENCE_MS = 120_000;

/** The argument of an attacker that runs at the priority of everybody else. */
export const SAME_PRIORITY = 'same-priority';

export function startAttacker({ hasSamePriority }: { hasSamePriority: boolean }): Attacker {
  const child = fork(new URL('./attacker-process.ts', import.meta.url), hasSamePriority ? [SAME_PRIORITY] : [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const tell = (message: AttackerMessage) => child.send(message);
  const answered = async (limitMs: number): Promise<unknown> => {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new Error('the attacker does not answer')), limitMs);
    const onExit = () => over.abort(new Error('the attacker ended'));
    child.once('exit', onExit);
    try {
      const [message] = await once(child, 'message', { signal: over.signal });
      return message;
    } finally {
      clearTimeout(timer);
      child.off('exit', onExit);
    }
  };
  return {
    async prepare(name) {
      tell({ kind: 'prepare', name });
      await answered(PATIENCE_MS);
    },
    async run(order, isEnough) {
      const outcome = answered(order.attackMs + PATIENCE_MS);
      let isOver = false;
      const ended = outcome.finally(() => {
        isOver = true;
      });
      tell({ kind: 'run', order });
      while (!isOver && !isEnough()) await Promise.race([sleep(POLL_MS), ended]);
      if (!isOver) tell({ kind: 'enough' });
      return ((await ended) as { outcome: AttackOutcome }).outcome;
    },
    stop: () => void child.kill(),
  };
}
