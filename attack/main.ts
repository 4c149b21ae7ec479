import { parseArgs } from 'node:util';
import { ATTACKS } from './attacks/all-attacks.ts';
import type { Attack } from './attacks/attack.ts';
import { report, rowOf } from './report.ts';
import { type AttackResult, attackAll, attackOwnService } from './run.ts';

/**
 * `npm run attack`: tries to harm a neighbour with one valid key inside its rate limit, and without a key. It starts a
 * service of its own, or takes the address of one, and two keys. Attack only services that are yours.
 */
const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    from: { type: 'string', default: '1' },
    to: { type: 'string' },
    seed: { type: 'string', default: '1' },
    scale: { type: 'string' },
    'same-priority': { type: 'boolean', default: false },
    url: { type: 'string' },
    key: { type: 'string' },
    'neighbour-key': { type: 'string' },
  },
});

/** A neighbour makes up to 200 requests a second. */
const NEIGHBOUR_RATE_LIMIT = 100_000;

const scale = Number(values.scale ?? (values.short ? 0.05 : 1));
// A full run takes long. By their numbers the attacks can be run in groups.
const numbered = ATTACKS.slice(Number(values.from) - 1, values.to === undefined ? undefined : Number(values.to));
const words = values.only?.split(',') ?? [''];
const attacks = numbered.filter(({ name }) => words.some((word) => name.includes(word)));
if (attacks.length === 0) fail(`no attack is named so; there are: ${ATTACKS.map(({ name }) => name).join('; ')}`);

const options = {
  attacks,
  seed: Number(values.seed),
  scale,
  samples: values.short ? 60 : 500,
  roundsLimit: values.short ? 2 : 40,
  attackMs: values.short ? 4_000 : 15_000,
  restMs: values.short ? 500 : 2_000,
  hasComparison: true,
  repeatsLimit: values.short ? 0 : 12,
  hasSamePriority: values['same-priority'],
  onDisturbed: ({ name, stolen }: AttackResult) =>
    console.error(`${name}: the host took ${Math.round(stolen * 100)} % of the time; measured again in a moment`),
  onResult: (result: AttackResult) => console.error(rowOf(result).join(' | ')),
};

process.exitCode = report(await run()) > 0 ? 1 : 0;

async function run() {
  const { url, key, 'neighbour-key': neighbourKey } = values;
  if (url === undefined) return await attackOwnService(options);
  if (key === undefined || neighbourKey === undefined) return fail('--url needs --key and --neighbour-key');
  // What an attack needs has to be there already; photos are not, since their addresses are the dealer's, and nobody is
  // signed in to the dashboard. One round is what the key's rate limit lets through.
  const withKeys = { ...options, roundsLimit: 1, attacks: attacks.filter(({ needs }) => isByKey(needs)) };
  const neighbour = { key: neighbourKey, staff: null };
  const participants = {
    neighbour,
    attacker: async () => ({ key, keys: [key], photos: [], listingIds: [], orderIds: [], staff: null }),
  };
  await assertKey(url, key, 1);
  await assertKey(url, neighbourKey, NEIGHBOUR_RATE_LIMIT);
  return await attackAll(withKeys, new URL(url), participants, null);
}

/** Whether an attack needs nothing but a key, and what its dealer has anyhow. */
function isByKey(needs: Attack['needs']): boolean {
  return needs === undefined || needs === 'events' || needs === 'large orders' || needs === 'hanging receiver';
}

/** A key that is refused, or soon past its rate limit, would be measured as harm. */
async function assertKey(url: string, key: string, rateLimit: number): Promise<void> {
  const response = await fetch(new URL('/api/v1/me', url), { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  const name = `the key ${key.slice(0, 8)}…`;
  if (response.status !== 200) fail(`${name} is answered ${response.status}`);
  if (Number(response.headers.get('x-ratelimit-limit')) < rateLimit) {
    fail(`${name} needs a rate limit of ${rateLimit} to measure: crownwheel integration rate-limit int_… ${rateLimit}`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
