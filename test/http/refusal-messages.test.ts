import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Operation } from '../../src/contract/operations/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { freshKey, openShop, type Shop } from '../harness/shop.ts';
import { startWorld, type World } from '../harness/world.ts';

type Schema = {
  type?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};
type Path = (string | number)[];

/** Each is wrong for some field: of the wrong type, too small, too large, too long, in the wrong form. */
const WRONG_VALUES: unknown[] = [
  null,
  true,
  -1,
  1.5,
  10 ** 16,
  '',
  'hunter2 ☃',
  'hunter2'.repeat(4_000),
  [],
  [null],
  {},
  { hunter2: 'hunter2' },
];
const WRONG_PARAMETERS = ['', '0', '-1', '251', '1.5', 'hunter2 ☃', '2026-99-99', 'x'.repeat(300), ',', 'lst_1,,'];
/** What only a regular expression or the words of a schema would have. */
const MACHINE_WORDS =
  /\^|\\[dswb]|\[[^\]]*-[^\]]*\]|\(\?|\{\d+,?\d*\}|anyOf|oneOf|schema|in another form|not what this field takes/;

/** Everything that a request can get wrong is refused in words that a person can act on. */
describe('every refusal of every operation', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    shop = await openShop(world, { isTestMode: true });
  });
  after(() => world.stop());

  for (const operation of Object.values(OPERATIONS) as Operation[]) {
    if (operation.isOpen) continue;
    const path = operation.path.replaceAll(/\{[^}]+\}/g, 'unknown');

    it(`of ${operation.id} says what is wrong in words, and names the field`, async () => {
      for (const name of Object.keys((operation.query as Schema).properties ?? {})) {
        for (const value of WRONG_PARAMETERS) {
          const target = `${path}?${name}=${encodeURIComponent(value)}`;
          assertClear(operation, [name], value, await send(operation, target, undefined));
        }
      }
      if (operation.body === null) return;
      for (const field of fieldsOf(operation.body as Schema)) {
        for (const value of WRONG_VALUES) {
          const body = withValue(structuredClone(operation.bodyExample ?? {}), field, value);
          assertClear(operation, field, value, await send(operation, path, body));
        }
      }
      for (const body of WRONG_VALUES.filter((value) => value !== null && typeof value !== 'object')) {
        assertClear(operation, [], body, await send(operation, path, JSON.stringify(body)));
      }
    });
  }

  async function send({ method }: Operation, path: string, body: unknown) {
    if (method === 'GET') return await shop.api.get(path);
    const headers = { ...freshKey(), 'content-type': 'application/json' };
    return await shop.api.post(path, typeof body === 'string' ? body : JSON.stringify(body ?? {}), headers);
  }
});

type Answer = { status: number; body: { error?: { message: string; param?: string; code: string } } };

function assertClear({ id }: Operation, field: Path, value: unknown, { status, body }: Answer): void {
  const what = `${id} ${field.join('.')} = ${JSON.stringify(value).slice(0, 80)}: ${status} ${JSON.stringify(body).slice(0, 400)}`;
  assert.ok(status < 500, what);
  if (status !== 400 || body.error === undefined) return;
  const { message, param } = body.error;
  assert.match(message, /^\S.*\.$/s, what);
  assert.doesNotMatch(message, MACHINE_WORDS, what);
  assert.ok(message.length <= 500, what);
  // A text may be about a person; where one of some values was expected, it is shown shortened.
  assert.doesNotMatch(message, /hunter2hunter2hunter2hunter2hunter2hunter2hunter2/, what);
  if (field.length === 0) return;
  assert.ok(param !== undefined && param !== '', what);
  // The message stands on its own: it names the field, or the one that is missing beside it.
  assert.ok(message.includes(param) || message.includes(String(field[0])), what);
}

/** The path of every field, one item deep into each list. */
function fieldsOf(schema: Schema, path: Path = []): Path[] {
  const inner = [schema, ...(schema.anyOf ?? [])];
  return [
    ...(path.length > 0 ? [path] : []),
    ...inner.flatMap((one) =>
      Object.entries(one.properties ?? {}).flatMap(([name, property]) => fieldsOf(property, [...path, name])),
    ),
    ...inner.flatMap((one) => (one.items === undefined ? [] : fieldsOf(one.items, [...path, 0]))),
  ];
}

function withValue(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const isList = typeof step === 'number';
  const container = (
    isList === Array.isArray(root) && root !== null && typeof root === 'object' ? root : isList ? [] : {}
  ) as Record<string | number, unknown>;
  container[step] = withValue(container[step], rest, value);
  return container;
}
