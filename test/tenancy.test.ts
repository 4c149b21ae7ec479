import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ID_PREFIXES } from '../src/contract/ids.ts';
import type { Operation } from '../src/contract/operations/operation.ts';
import { OPERATIONS } from '../src/contract/operations.ts';
import { sql } from '../src/db/sql.ts';
import { newId } from '../src/ids/new-id.ts';
import { setPublished } from '../src/inventory/publications.ts';
import { dismissOrder } from '../src/sales/orders/order-operations.ts';
import { TESTER } from './harness/actor.ts';
import type { ApiResponse } from './harness/http/api-client.ts';
import { addShop, freshKey, openShop, type Shop } from './harness/shop.ts';
import { part, publishNew, watch } from './harness/stock.ts';
import { startWorld, type World } from './harness/world.ts';

/**
 * Walks every route that the app serves with what belongs to somebody else: another dealer, and another integration of
 * the same dealer. The routes come from the router itself, so a new operation is walked from its first day; if its
 * path or body names things in a way that this walk does not understand, the walk fails and has to learn it.
 */
let world: World;
let own: Shop;
const others: { name: string; tenant: Tenant }[] = [];
let routes: Operation[];

/** Somebody's things, each with words of its own that must show up nowhere else. */
type Tenant = { shop: Shop; ids: Record<string, string>; marks: string[] };

/** The nouns of paths and the fields of bodies that hold ids, and what kind of id. A new one has to be added here. */
const ID_KIND_BY_PATH: Record<string, keyof typeof ID_PREFIXES> = {
  '/v1/listings/{id}': 'listing',
  '/v1/parts/{id}': 'part',
  '/v1/orders/{id}': 'order',
  '/v1/orders/{id}/cancel': 'order',
  '/v1/reservations/{id}': 'reservation',
  '/v1/reservations/{id}/release': 'reservation',
  '/v1/reservations/{id}/extend': 'reservation',
};
const ID_KIND_BY_FIELD: Record<string, keyof typeof ID_PREFIXES> = { listing_id: 'listing', part_id: 'part' };
/** How far the router's printed tree indents each level. */
const TREE_INDENT = 4;

before(async () => {
  world = await startWorld();
  own = (await makeTenant(await openShop(world), 'OWN')).shop;
  others.push({ name: 'another dealer', tenant: await makeTenant(await openShop(world), 'FOREIGN') });
  const sibling = await addShop(world, own);
  others.push({ name: 'another integration of the same dealer', tenant: await makeTenant(sibling, 'SIBLING') });
  routes = routesOf();
});
after(() => world.stop());

async function makeTenant(shop: Shop, mark: string): Promise<Tenant> {
  const listing = await publishNew(world, shop, watch({ title: `${mark} watch`, units: 9 }));
  const spare = await publishNew(world, shop, part({ title: `${mark} part` }));
  await publishNew(world, shop, part({ title: `${mark} other part` }));
  const customer = {
    external_id: `${mark}-customer`,
    email: `${mark.toLowerCase()}@mark.example`,
    first_name: `${mark} name`,
  };
  const report = (id: string) => ({ channel_order_id: `${mark}-${id}`, customer, lines: [{ listing_id: listing }] });
  const order = (await shop.post('/v1/orders', report('1'))).body;
  const dismissed = (await shop.post('/v1/orders', report('2'))).body;
  await dismissOrder(world.channel, TESTER, shop.organizationId, dismissed.id, `${mark} reason`);
  await shop.post('/v1/customers', { ...customer, company: `${mark} company` });
  await shop.post('/v1/test/webhook_ping');
  const off = await publishNew(world, shop, watch({ title: `${mark} gone` }));
  await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [off], false);
  const reserved = { listing_id: listing, reference: `${mark} cart` };
  const reservation = (await shop.post('/v1/reservations', reserved)).body;
  const other = (await shop.post('/v1/reservations', reserved)).body;
  const ids = {
    listing,
    part: spare,
    order: order.id,
    customer: order.customer_id,
    reservation: reservation.id,
  };
  const secrets = [
    other.id,
    shop.integrationId,
    shop.apiKey,
    off,
    dismissed.id,
    order.lines[0].id,
    `${mark.toLowerCase()}@mark`,
  ];
  return { shop, ids, marks: [mark, ...Object.values(ids), ...secrets] };
}

/** Every method and path under /api that the router prints, with the operation behind it. */
function routesOf(): Operation[] {
  const branch: string[] = [];
  const served: string[] = [];
  for (const line of world.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', segment = '', methods = ''] = /^([│├└─ ]*)(\S+) \((.+)\)$/.exec(line) ?? [];
    branch.splice(indent.length / TREE_INDENT - 1, Infinity, segment);
    const path = branch.join('').replaceAll(/:(\w+)/g, '{$1}');
    // The dashboard's own operations are walked in test/dashboard/tenancy.test.ts.
    if (!path.startsWith('/api/') || path.startsWith('/api/dashboard/')) continue;
    served.push(...methods.split(', ').flatMap((method) => (method === 'HEAD' ? [] : [`${method} ${path.slice(4)}`])));
  }
  return served.map((route) => {
    const operation = Object.values(OPERATIONS).find((one) => `${one.method} ${one.path}` === route);
    assert.ok(operation, `${route} is served and is no operation`);
    return operation;
  });
}

/** A request of the operation that is about the given ids; the body is the operation's own example. */
async function call(operation: Operation, ids: Record<string, string>, shop = own): Promise<ApiResponse> {
  const kind = ID_KIND_BY_PATH[operation.path];
  const id = kind === undefined ? '' : ids[kind];
  assert.ok(id !== undefined, `there is no ${kind} to ask ${operation.path} for`);
  const path = operation.path.replace('{id}', id);
  assert.doesNotMatch(path, /[{}]/, `${operation.path} has parameters that this walk does not know`);
  if (operation.method === 'GET') return await shop.api.get(path);
  return await shop.api.post(path, withIds(operation.bodyExample, ids), freshKey());
}

/** The example with every id in it replaced, and with names that are free. */
function withIds(value: unknown, ids: Record<string, string>, field = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withIds(one, ids, field));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withIds(one, ids, key)]));
  }
  if (field === 'channel_order_id') return crypto.randomUUID();
  if (typeof value === 'string' && Object.values(ID_PREFIXES).some((prefix) => value.startsWith(`${prefix}_`))) {
    const kind = ID_KIND_BY_FIELD[field];
    assert.ok(kind !== undefined, `the field ${field} holds an id that this walk does not know`);
    return ids[kind];
  }
  return value;
}

function unknownIds(): Record<string, string> {
  return {
    listing: newId('listing'),
    part: newId('part'),
    order: newId('order'),
    customer: newId('customer'),
    reservation: newId('reservation'),
  };
}

/** Nothing of the tenant is in an answer, neither in its body nor in its headers. */
function assertSilent(answer: ApiResponse, { marks }: Tenant, asked: string[], place: string): void {
  const text = `${answer.text}\n${JSON.stringify(answer.headers)}`;
  for (const mark of marks) {
    if (!asked.includes(mark)) assert.ok(!text.includes(mark), `${place} reveals ${mark}`);
  }
}

/** What may differ between two answers to the same question. */
function plain(answer: ApiResponse): unknown {
  const { status, headers, body } = answer;
  const { 'x-request-id': _, date: __, 'x-ratelimit-remaining': ___, 'x-ratelimit-reset': ____, ...rest } = headers;
  return { status, headers: rest, body: { error: { ...body?.error, request_id: '' } } };
}

describe('tenancy', () => {
  it('is walked over every operation, and the router serves no other', () => {
    assert.deepEqual(
      routes.map((operation) => operation.id).sort(),
      Object.keys(OPERATIONS).sort(),
      'the router and the table of operations differ',
    );
    for (const { path } of routes) {
      if (path.includes('{')) assert.ok(path in ID_KIND_BY_PATH, `what kind of id does ${path} take?`);
    }
  });

  it('answers the id of somebody else exactly as one that never was', async () => {
    const isEnd = ({ path }: Operation) => Number(/\/(release|cancel)$/.test(path));
    const named = routes.filter(({ path }) => path.includes('{')).sort((one, other) => isEnd(one) - isEnd(other));
    for (const operation of named) {
      assert.ok((await call(operation, unknownIds())).status === 404);
      const unknown = plain(await call(operation, unknownIds()));
      for (const { name, tenant } of others) {
        const answer = await call(operation, tenant.ids);
        assert.deepEqual(plain(answer), unknown, `${operation.id} with an id of ${name}`);
        assertSilent(answer, tenant, [], `${operation.id} with an id of ${name}`);
        assert.ok((await call(operation, tenant.ids, tenant.shop)).status < 300, `${operation.id} by ${name} itself`);
      }
    }
  });

  it('reveals nobody else in any list, document or answer', async () => {
    // Reads first: an order that was asked for somebody's listing names its id from then on.
    const plainRoutes = routes.filter(({ path }) => !path.includes('{'));
    for (const operation of plainRoutes.sort((one, other) => one.method.localeCompare(other.method))) {
      for (const { name, tenant } of others) {
        const answer = await call(operation, tenant.ids);
        if (operation.id === 'createReservation') {
          assert.deepEqual(plain(answer), plain(await call(operation, unknownIds())));
          assertSilent(answer, tenant, [], `${operation.id} beside ${name}`);
          continue;
        }
        assert.ok(answer.status < 300, `${operation.id}: ${answer.text}`);
        // An order repeats the ids that it was asked for, and nothing that it learnt from them.
        assertSilent(answer, tenant, Object.values(tenant.ids), `${operation.id} beside ${name}`);
        if (operation.method === 'POST') continue;
        for (const query of ['limit=250', 'status=any', 'updated_after=2000-01-01', 'created_after=2000-01-01']) {
          const path = `${operation.path}?${query}`;
          assertSilent(await own.api.get(path), tenant, [], `${path} beside ${name}`);
        }
      }
    }
  });

  it('reads the ids of somebody else as missing, exactly as ids that never were', async () => {
    const lists = routes.filter(({ query }) => 'ids' in ((query as { properties?: object }).properties ?? {}));
    assert.deepEqual(lists.map(({ id }) => id).sort(), ['listListings', 'listParts']);
    for (const { path, id: operationId } of lists) {
      for (const { name, tenant } of others) {
        const asked = Object.values(tenant.ids).join(',');
        const answer = await own.api.get(`${path}?ids=${asked}`);
        assert.deepEqual([answer.status, answer.body.data, answer.body.missing.join()], [200, [], asked]);
        assertSilent(answer, tenant, Object.values(tenant.ids), `${operationId} by ids of ${name}`);
        assert.equal((await tenant.shop.api.get(`${path}?ids=${asked}`)).body.data.length, 1);
      }
    }
  });

  it('lets a write change nothing of somebody else’s', async () => {
    const everything = async (shop: Shop) =>
      await world.db.query<Record<string, unknown>>(sql`
        select (select json_agg(o order by o.id) from orders o where o.integration_id = ${shop.integrationId}) as orders,
          (select json_agg(d order by d.item_id) from channel_documents d
            where d.integration_id = ${shop.integrationId}) as documents,
          (select json_agg(e order by e.id) from events e where e.integration_id = ${shop.integrationId}) as events,
          (select json_agg(x order by x.external_id) from customer_external_ids x
            where x.integration_id = ${shop.integrationId}) as links,
          (select json_agg(c order by c.id) from customers c where exists (
            select from customer_external_ids x where x.customer_id = c.id and x.integration_id = ${shop.integrationId})
          ) as customers,
          (select json_agg(i order by i.id) from items i where exists (
            select from publications p where p.item_id = i.id and p.integration_id = ${shop.integrationId})) as items,
          (select json_agg(r order by r.id) from reservations r
            where r.integration_id = ${shop.integrationId}) as reservations,
          (select json_agg(l order by l.id) from order_lines l where l.integration_id = ${shop.integrationId}) as lines,
          (select json_agg(d order by d.id) from deliveries d where d.integration_id = ${shop.integrationId}) as deliveries,
          (select stamp from channel_clocks where integration_id = ${shop.integrationId}) as clock,
          (select json_agg(r order by r.key) from idempotency_records r
            where r.integration_id = ${shop.integrationId}) as records`);
    for (const operation of routes.filter(({ method }) => method === 'POST')) {
      for (const { name, tenant } of others) {
        const before = await everything(tenant.shop);
        for (const thing of ['orders', 'lines', 'items', 'customers', 'reservations'] as const)
          assert.ok(before[0]?.[thing], thing);
        await call(operation, tenant.ids);
        assert.deepEqual(await everything(tenant.shop), before, `${operation.id} beside ${name}`);
      }
    }
  });

  it('gives a cursor, a key and a channel_order_id of somebody else no meaning', async () => {
    const lists = routes.filter(({ query }) => 'after' in ((query as { properties?: object }).properties ?? {}));
    assert.ok(lists.length >= 4);
    for (const { name, tenant } of others) {
      const key = freshKey();
      const body = { channel_order_id: `shared with ${name}` };
      const theirs = await tenant.shop.api.post('/v1/orders', body, key);
      const ours = await own.api.post('/v1/orders', body, key);
      assert.equal(ours.status, 201);
      assert.equal(ours.headers['idempotent-replay'], undefined);
      assert.notEqual(ours.body.id, theirs.body.id);
      for (const { path, id } of lists) {
        const filter = id === 'listEvents' ? '' : '&status=any';
        const { next_cursor: cursor } = (await tenant.shop.api.get(`${path}?limit=1${filter}`)).body;
        assert.ok(cursor, `${id} has one page only`);
        const answer = await own.api.get(`${path}?after=${cursor}`);
        assert.equal(answer.body.error?.code, 'invalid_cursor', id);
      }
    }
  });
});
