import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../../test/harness/actor.ts';
import type { ApiClient } from '../../../../test/harness/http/api-client.ts';
import { part, publishNew, watch } from '../../../../test/harness/stock.ts';
import { type Dealer, startWorld, type World } from '../../../../test/harness/world.ts';
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts';
import { sql } from '../../../db/sql.ts';
import { changeItem } from '../../../inventory/change-items.ts';
import { editItem } from '../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../inventory/publications.ts';
import { changeUnits, moveUnits } from '../../../inventory/units/movements.ts';
import { deleteItem } from '../../../sales/delete-item.ts';
import { confirmOrder, dismissOrder, fulfilOrder } from '../../../sales/orders/order-operations.ts';
import { sellUnits, voidSale } from '../../../sales/sell.ts';

type Data = { object: Record<string, unknown> & { id: string }; previous_attributes?: Record<string, unknown> };
type EventRow = { id: string; type: string; created_at: string; data: Data };

describe('the list of events', () => {
  let world: World;
  let dealer: Dealer;
  let api: ApiClient;
  let listing: string;
  let shown: string;
  before(async () => {
    world = await startWorld();
    dealer = await world.dealer();
    api = dealer.api;
    const { organizationId, integrationId } = dealer;
    listing = await publishNew(world, dealer, watch());
    await editItem(world.channel, TESTER, organizationId, listing, { title: 'Changed' });
    await sellUnits(world.channel, TESTER, organizationId, listing, 1);
    shown = await publishNew(world, dealer, part());
    await moveUnits(world.channel, TESTER, organizationId, shown, 'fit', 1);
    await setPublished(world.channel, TESTER, organizationId, integrationId, [shown], false);
    await deleteItem(world.channel, TESTER, organizationId, listing);
  });
  after(() => world.stop());

  const ALL = [
    'listing.unpublished',
    'part.unpublished',
    'part.in_stock',
    'part.published',
    'listing.sold',
    'listing.updated',
    'listing.published',
  ];
  const rowsOf = async (query: string): Promise<EventRow[]> => {
    const { status, body } = await api.get(`/v1/events${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  };
  const typesOf = async (query: string) => (await rowsOf(query)).map((event) => event.type);

  it('is newest first, each event as its webhook would carry it', async () => {
    const { body } = await api.get('/v1/events');
    assert.deepEqual(
      body.data.map((event: EventRow) => event.type),
      ALL,
    );
    assert.deepEqual([body.object, body.has_more, body.next_cursor], ['list', false, null]);
    const [deleted] = body.data;
    const { id, created_at, ...rest } = deleted;
    assert.match(id, /^evt_/);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(rest, {
      object: 'event',
      type: 'listing.unpublished',
      api_version: '2026-05-07',
      livemode: true,
      data: { object: { id: listing, object: 'listing', deleted: true } },
    });
    const stamps = body.data.map((event: EventRow) => event.created_at);
    assert.deepEqual(stamps, stamps.toSorted().reverse());
    assert.equal(new Set(stamps).size, ALL.length);
  });

  it('stands in the stored bytes', async () => {
    const { text } = await api.get('/v1/events?limit=1');
    const [stored] = await world.db.query<{ body: string }>(sql`
      select body from events where integration_id = ${dealer.integrationId} order by created_at desc limit 1`);
    assert.ok(text.includes(String(stored?.body)));
  });

  for (const limit of [1, 2, 3, 7, 250]) {
    it(`pages by ${limit} without a gap`, async () => {
      const found: string[] = [];
      let query = `?limit=${limit}`;
      for (;;) {
        const { body } = await api.get(`/v1/events${query}`);
        found.push(...body.data.map((event: EventRow) => event.type));
        if (!body.has_more) break;
        query = `?limit=${limit}&after=${body.next_cursor}`;
      }
      assert.deepEqual(found, ALL);
    });
  }

  it('takes types by name and by namespace, and the cursor carries them', async () => {
    assert.deepEqual(await typesOf('?type=listing.sold'), ['listing.sold']);
    assert.deepEqual(
      await typesOf('?type=part.*'),
      ALL.filter((type) => type.startsWith('part.')),
    );
    assert.deepEqual(await typesOf('?type=part.published,%20listing.*'), [
      'listing.unpublished',
      'part.published',
      'listing.sold',
      'listing.updated',
      'listing.published',
    ]);
    assert.deepEqual(await typesOf('?type=*'), ALL);
    assert.deepEqual(await typesOf('?type=order.*'), []);
    const { body } = await api.get('/v1/events?type=listing.*&limit=1');
    const after = `after=${body.next_cursor}`;
    const carried = ['listing.sold', 'listing.updated', 'listing.published'];
    assert.deepEqual(await typesOf(`?${after}`), carried);
    assert.deepEqual(await typesOf(`?${after}&type=listing.*`), carried);
    const refused = await api.get(`/v1/events?${after}&type=part.*`);
    assert.deepEqual([refused.status, refused.body.error.param], [400, 'type']);
  });

  it('refuses types that are none', async () => {
    for (const type of [
      '',
      'listing',
      'listing.',
      'listing.gone',
      'part.*,x',
      '.*',
      'order.received',
      'listing.sold,',
    ]) {
      const { status, body } = await api.get(`/v1/events?type=${type}`);
      assert.deepEqual([status, body.error?.code, body.error?.param], [400, 'invalid_request', 'type'], type);
      for (const known of Object.keys(EVENT_TYPES)) assert.ok(body.error.message.includes(known), known);
    }
  });

  it('keeps what came after created_after, and not the event that it names', async () => {
    const rows = await rowsOf('');
    for (const [index, row] of rows.entries()) {
      assert.deepEqual(await rowsOf(`?created_after=${row.created_at}`), rows.slice(0, index));
    }
    const { body } = await api.get(`/v1/events?created_after=${rows.at(-1)?.created_at}&limit=2`);
    assert.deepEqual(await rowsOf(`?after=${body.next_cursor}`), rows.slice(2, -1));
    const refused = await api.get(`/v1/events?after=${body.next_cursor}&created_after=2020-01-01`);
    assert.deepEqual([refused.status, refused.body.error.param], [400, 'created_after']);
  });

  it('reaches back 30 days and no further, from the cache as well', async () => {
    const other = await world.dealer();
    const id = await publishNew(world, other, watch());
    for (const title of ['Second', 'Third']) await editItem(world.channel, TESTER, other.organizationId, id, { title });
    const read = async (query: string, etag = '"other"') => {
      const { status, body, headers } = await other.api.get(`/v1/events${query}`, { 'if-none-match': etag });
      return { status, rows: (body?.data ?? []) as EventRow[], hasMore: body?.has_more, etag: headers.etag ?? '' };
    };
    const endOf = (row: EventRow | undefined) => Date.parse(row?.created_at ?? '') + 30 * 24 * 3_600_000;
    const whole = await read('');
    const [newest, middle, oldest] = whole.rows;
    const first = await read('?limit=2');
    assert.deepEqual([first.rows, first.hasMore], [[newest, middle], true]);
    try {
      world.setTime(new Date(endOf(oldest) - 1));
      assert.equal((await read('', whole.etag)).status, 304);
      // The page stays as it is and is now the last.
      world.setTime(new Date(endOf(oldest)));
      assert.deepEqual((await read('', whole.etag)).rows, [newest, middle]);
      assert.deepEqual(await read('?limit=2', first.etag).then(({ rows, hasMore }) => [rows, hasMore]), [
        [newest, middle],
        false,
      ]);
      world.setTime(new Date(endOf(newest) - 1));
      assert.deepEqual((await read('')).rows, [newest]);
      assert.deepEqual((await read('?created_after=2020-01-01')).rows, [newest]);
      world.setTime(new Date(endOf(newest)));
      assert.deepEqual((await read('')).rows, []);
    } finally {
      world.setTime(null);
    }
  });

  it('answers 304 until there is a new event, whatever it was caused by', async () => {
    const other = await world.dealer();
    let etag = (await other.api.get('/v1/events')).headers.etag ?? '';
    const isNew = async () => {
      const { status, headers, body } = await other.api.get('/v1/events', { 'if-none-match': etag });
      etag = headers.etag ?? '';
      return status === 200 ? body.data[0].type : false;
    };
    assert.equal(await isNew(), false);
    const id = await publishNew(world, other, part());
    assert.equal(await isNew(), 'part.published');
    assert.equal(await isNew(), false);
    await other.api.post('/v1/test/webhook_ping', {}, { 'idempotency-key': 'ping' });
    assert.equal(await isNew(), 'integration.test_event');
    const order = await other.api.post('/v1/orders', { channel_order_id: 'E-1' }, { 'idempotency-key': 'order' });
    assert.equal(await isNew(), false);
    await dismissOrder(world.channel, TESTER, other.organizationId, order.body.id, null);
    assert.equal(await isNew(), 'order.cancelled');
    await deleteItem(world.channel, TESTER, other.organizationId, id);
    assert.equal(await isNew(), 'part.unpublished');
    assert.equal(await isNew(), false);
  });

  it('shows no echo of the client’s own writes', async () => {
    const other = await world.dealer();
    const id = await publishNew(world, other, part());
    await changeItem(
      world.channel,
      { organizationId: other.organizationId, itemId: id, isSuppressed: (_, type) => type === 'part.in_stock' },
      (tx, item) => changeUnits(tx, item, -1),
    );
    const { body } = await other.api.get('/v1/events');
    assert.deepEqual(
      body.data.map((event: EventRow) => event.type),
      ['part.published'],
    );
    assert.equal((await other.api.get(`/v1/parts/${id}`)).body.quantity, 4);
    const stored = await world.db.query<{ is_suppressed: boolean }>(sql`
      select is_suppressed from events where integration_id = ${other.integrationId} order by created_at`);
    assert.deepEqual(
      stored.map((event) => event.is_suppressed),
      [false, true],
    );
  });

  it('shows those that nobody subscribed to, and none of another dealer', async () => {
    const other = await world.dealer();
    await world.db.query(sql`
      update webhook_endpoints set subscribed_events = '{order.*}', url = 'https://shop.example/hook'
      where integration_id = ${other.integrationId}`);
    await publishNew(world, other, watch());
    const { body } = await other.api.get('/v1/events');
    assert.equal(body.data.length, 1);
    assert.deepEqual(await typesOf(''), ALL);
  });

  it('says when it happened in test mode', async () => {
    const other = await world.dealer();
    await world.db.query(sql`update integrations set is_test_mode = true where id = ${other.integrationId}`);
    await publishNew(world, other, watch());
    const { body } = await other.api.get('/v1/events');
    assert.equal(body.data[0].livemode, false);
  });

  it('holds every kind of event, each with what the catalogue says of it', async () => {
    const other = await world.dealer();
    const { organizationId, integrationId } = other;
    const { channel } = world;
    const [sold, gone] = [await publishNew(world, other, watch()), await publishNew(world, other, watch())];
    await editItem(channel, TESTER, organizationId, sold, { title: 'Changed' });
    await voidSale(channel, TESTER, organizationId, await sellUnits(channel, TESTER, organizationId, sold, 1));
    await setPublished(channel, TESTER, organizationId, integrationId, [gone], false);
    await deleteItem(channel, TESTER, organizationId, gone);
    const [left, away] = [await publishNew(world, other, part()), await publishNew(world, other, part())];
    await editItem(channel, TESTER, organizationId, left, { title: 'Changed' });
    await moveUnits(channel, TESTER, organizationId, left, 'fit', 1);
    await editItem(channel, TESTER, organizationId, left, { units: 0 });
    await setPublished(channel, TESTER, organizationId, integrationId, [left], false);
    await deleteItem(channel, TESTER, organizationId, away);
    await other.api.post('/v1/test/webhook_ping', {}, { 'idempotency-key': 'ping' });
    const report = async (id: string, line: object) => {
      const body = { channel_order_id: id, lines: [line] };
      return (await other.api.post('/v1/orders', body, { 'idempotency-key': id })).body.id as string;
    };
    const [kept, dropped] = [
      await report('O-1', { listing_id: sold, quantity: 1 }),
      await report('O-2', { quantity: 1 }),
    ];
    await confirmOrder(channel, TESTER, organizationId, kept);
    await fulfilOrder(channel, TESTER, organizationId, kept);
    await dismissOrder(channel, TESTER, organizationId, dropped, null);

    const { body } = await other.api.get('/v1/events?limit=250');
    const events: EventRow[] = body.data;
    assert.deepEqual(new Set(events.map((event) => event.type)), new Set(Object.keys(EVENT_TYPES)));
    for (const { type, data } of events) {
      const { object, previous } = EVENT_TYPES[type as EventType];
      const context = JSON.stringify([type, data]);
      if (type.startsWith('order.')) {
        assert.deepEqual(data.object, (await other.api.get(`/v1/orders/${data.object.id}`)).body, context);
      } else {
        for (const name of Object.keys(data.object)) assert.ok(object.includes(`\`${name}`), `${context}: ${name}`);
      }
      const names = data.previous_attributes === undefined ? null : Object.keys(data.previous_attributes);
      assert.equal(names === null, previous === null, context);
      if (previous?.startsWith('Always empty')) assert.deepEqual(names, [], context);
      const [, oldField] = /^The old `(\w+)`\.$/.exec(previous ?? '') ?? [];
      if (oldField !== undefined) assert.deepEqual(names, [oldField], context);
    }
    const deleted = events.filter((event) => event.data.object.deleted === true);
    assert.deepEqual(
      deleted.map((event) => [event.type, event.data.object.id]),
      [
        ['part.unpublished', away],
        ['listing.unpublished', gone],
      ],
    );
  });
});
