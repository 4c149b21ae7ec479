import { constants, setPriority } from 'node:os';
import { type AttackOrder, type AttackOutcome, SAME_PRIORITY } from './attacker.ts';
import { ATTACKS } from './attacks/all-attacks.ts';
import { createClient } from './client.ts';
import { seededRandom } from './random.ts';

/**
 * The attacker, a process of its own. A real one sits on another machine; here it shares the cores with the service, the
 * database and the neighbour who measures. So it runs at a lower priority: otherwise most of what the neighbour loses is
 * lost to the attacker's own CPU time, which says nothing about the service. With the argument "same-priority" it does not,
 * to compare how many requests it sends. It ends with the program that started it.
 */
if (process.argv[2] !== SAME_PRIORITY) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

let isEnough = false;

async function run(order: AttackOrder): Promise<AttackOutcome> {
  const attack = ATTACKS.find(({ name }) => name === order.name);
  if (attack === undefined) throw new Error(`there is no attack "${order.name}"`);
  const { account, scale } = order;
  const client = createClient(new URL(order.origin), account.key, AbortSignal.timeout(order.attackMs));
  const random = seededRandom(order.seed);
  let rounds = 0;
  isEnough = false;
  const beganMs = performance.now();
  try {
    do {
      rounds += 1;
      await attack.run({ ...account, client, random, round: rounds, scale });
    } while (!isEnough && rounds < order.roundsLimit && !client.signal.aborted);
    return {
      rounds,
      statuses: [...client.statuses],
      answer: client.answers(),
      elapsedMs: performance.now() - beganMs,
    };
  } finally {
    client.end();
  }
}

process.on('message', (message: AttackerMessage) => {
  if (message.kind === 'enough') {
    isEnough = true;
  } else if (message.kind === 'prepare') {
    ATTACKS.find(({ name }) => name === message.name)?.prepare?.();
    process.send?.({ kind: 'prepared' });
  } else {
    void run(message.order).then((outcome) => process.send?.({ kind: 'outcome', outcome }));
  }
});
process.once('disconnect', () => process.exit());

export type AttackerMessage =
  | { kind: 'prepare'; name: string }
  | { kind: 'run'; order: AttackOrder }
  | { kind: 'enough' };
