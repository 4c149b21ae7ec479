import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { addShop, openShop, type Shop } from '../../../test/harness/shop.ts';
import { encryption, guard } from '../../../test/harness/webhooks/webhook-world.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { EventType } from '../../contract/event-types.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import type { Database } from '../../db/database.ts';
import { Sql, sql } from '../../db/sql.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery-queue/delivery-log.ts';
import { setUrl } from '../endpoints/endpoint-settings.ts';
import { openOutbox } from '../outbox.ts';
import {
  countDealerDeliveries,
  type DeliveryFilter,
  EVERY_DELIVERY,
  type IdPage,
  listDealerDeliveries,
} from './list-deliveries.ts';
import { countDealerEvents, EVERY_EVENT, type EventFilter, listDealerEvents } from './list-events.ts';

const START_MS = Date.parse('2031-05-01T10:00:00Z');
const TYPES: EventType[] = ['listing.updated', 'part.in_stock', 'order.fulfilled', 'integration.test_event'];
const OBJECTS = ['lst_01h455vb4pex5vsknk084sn02q', 'prt_01h455vb4pex5vsknk084sn02q', 'ord_01h455vb4pex5vsknk084sn02q'];
const MIXED = 90;

type Row = {
  integrationId: string;
  id: string;
  eventId: string;
  at: number;
  type: EventType;
  objectId: string;
  status: DeliveryStatus;
  code: number | null;
};

describe('the lists of deliveries and events of a dealer', () => {
  let world: World;
  let shops: Shop[];
  let rows: Row[];
  let unsent: { id: string; type: EventType; reason: string; objectId: string; integrationId: string }[];
  before(async () => {
    world = await startWorld();
    const first = await openShop(world);
    shops = [first, await addShop(world, first)];
    for (const { integrationId } of shops) {
      await setUrl(world.db, TESTER, { guard, encryption }, integrationId, 'http://127.0.0.1:9/nobody');
    }
    ({ rows, unsent } = await record());
  });
  after(() => world.stop());

  /** Every status, type, object and code, in turn; every fourth event is not sent. */
  async function record() {
    const outbox = openOutbox();
    const made: Row[] = [];
    const others: typeof unsent = [];
    for (let index = 0; index < MIXED; index++) {
      const { integrationId } = shops[index % 2] as Shop;
      const [type, objectId] = [TYPES[index % 4] as EventType, OBJECTS[index % 3] as string];
      const at = START_MS + Math.floor(index / 3) * 1_000;
      const reason = index % 4 === 3 ? ((['echo', 'no_url', 'not_subscribed'] as const)[index % 3] ?? null) : null;
      const endpoint = {
        integrationId,
        organizationId: null,
        apiVersion: CURRENT_VERSION,
        isTestMode: false,
        url: reason === 'no_url' ? null : 'http://127.0.0.1:9/nobody',
        subscriptions: reason === 'not_subscribed' ? [] : ['*'],
        isSending: true,
      };
      // The test event is always subscribed to.
      const sent = type === 'integration.test_event' ? 'listing.sold' : type;
      const recorded = outbox.add(endpoint, {
        type: sent,
        object: { id: objectId },
        previous: undefined,
        createdAt: new Date(at),
        isSuppressed: reason === 'echo',
      });
      const { id: eventId, deliveryId } = recorded;
      if (deliveryId === null) others.push({ id: eventId, type: sent, reason: reason ?? '', objectId, integrationId });
      else {
        const status = DELIVERY_STATUSES[index % 5] as DeliveryStatus;
        const code = status === 'succeeded' ? 200 : status === 'pending' ? null : [500, 404, null][index % 3];
        made.push({ integrationId, id: deliveryId, eventId, at, type: sent, objectId, status, code: code ?? null });
      }
    }
    await world.db.transaction(async (tx) => outbox.write(tx));
    for (const { id, status, code } of made) {
      await world.db.query(sql`
        update deliveries set status = ${status}, is_waiting = ${status === 'failed'},
          attempts = ${status === 'pending' ? 0 : 1}, last_response_code = ${code} where id = ${id}`);
    }
    return { rows: made, unsent: others };
  }

  const all = (): DeliveryFilter => ({ ...EVERY_DELIVERY, integrationIds: shops.map((shop) => shop.integrationId) });
  const allEvents = (): EventFilter => ({ ...EVERY_EVENT, integrationIds: shops.map((shop) => shop.integrationId) });

  /** All pages forwards; each read backwards again from the one behind it. */
  async function pages(list: (page: IdPage) => Promise<{ id: string }[]>): Promise<string[]> {
    const ids: string[] = [];
    for (let from: IdPage['from'] = null; ; ) {
      const page: string[] = (await list({ from, limit: 7 })).map(({ id }) => id);
      const last: string | undefined = page.at(-1);
      if (last === undefined) return ids;
      if (ids.length > 0) {
        const back = await list({ from: { id: page[0] ?? '', isBackwards: true }, limit: 7 });
        assert.deepEqual(
          back.map(({ id }) => id),
          ids.slice(-7),
        );
      }
      ids.push(...page);
      from = { id: last, isBackwards: false };
    }
  }

  const newestFirst = (found: { id: string }[]) =>
    found.map(({ id }) => id).sort((one, other) => (one < other ? 1 : -1));

  it('every filter of deliveries, alone and with others, shows what matches, newest first, page by page', async () => {
    const [first] = shops as [Shop];
    const time = new Date(START_MS + 12_000);
    const filters: [Partial<DeliveryFilter>, (row: Row) => boolean][] = [
      [{}, () => true],
      ...DELIVERY_STATUSES.map((status): [Partial<DeliveryFilter>, (row: Row) => boolean] => [
        { statuses: [status] },
        (row) => row.status === status,
      ]),
      [{ types: ['listing.updated'] }, (row) => row.type === 'listing.updated'],
      [{ objectIds: OBJECTS.slice(0, 1) }, (row) => row.objectId === OBJECTS[0]],
      [{ response: { from: 500, to: 599 } }, (row) => row.code === 500],
      [{ response: { from: 200, to: 200 } }, (row) => row.code === 200],
      [{ response: 'none' }, (row) => row.code === null && row.status !== 'pending'],
      [{ integrationIds: [first.integrationId] }, (row) => row.integrationId === first.integrationId],
      [{ from: time }, (row) => row.at >= time.getTime()],
      [{ to: time }, (row) => row.at < time.getTime()],
      [{ deliveryIds: [rows[3]?.id ?? ''] }, (row) => row.id === rows[3]?.id],
      [{ eventIds: [rows[3]?.eventId ?? ''] }, (row) => row.id === rows[3]?.id],
    ];
    for (const [one, isOne] of filters) {
      for (const [other, isOther] of filters) {
        const filter = { ...all(), ...one, ...other };
        const isSame = Object.keys(one).some((key) => key in other) && one !== other;
        if (isSame) continue;
        const expected = newestFirst(rows.filter((row) => isOne(row) && isOther(row)));
        assert.deepEqual(
          await pages((page) => listDealerDeliveries(world.db, filter, page)),
          expected,
          JSON.stringify([one, other]),
        );
        const { value } = await countDealerDeliveries(world.db, filter);
        assert.equal(value, expected.length, JSON.stringify([one, other]));
      }
    }
  });

  it('every filter of events shows what matches, also what was never sent, with its reason', async () => {
    const events = [...rows.map((row) => ({ ...row, id: row.eventId, reason: null as string | null })), ...unsent];
    const filters: [Partial<EventFilter>, (event: (typeof events)[number]) => boolean][] = [
      [{}, () => true],
      [{ types: ['listing.sold'] }, ({ type }) => type === 'listing.sold'],
      [{ outcome: 'sent' }, ({ reason }) => reason === null],
      [{ outcome: 'echo' }, ({ reason }) => reason === 'echo'],
      [{ outcome: 'no_url' }, ({ reason }) => reason === 'no_url'],
      [{ outcome: 'not_subscribed' }, ({ reason }) => reason === 'not_subscribed'],
      [{ objectIds: OBJECTS.slice(1, 2) }, ({ objectId }) => objectId === OBJECTS[1]],
      [
        { types: ['listing.sold'], outcome: 'echo' },
        ({ type, reason }) => type === 'listing.sold' && reason === 'echo',
      ],
      [
        { types: ['part.in_stock'], outcome: 'sent' },
        ({ type, reason }) => type === 'part.in_stock' && reason === null,
      ],
    ];
    for (const [change, isMeant] of filters) {
      const filter = { ...allEvents(), ...change };
      const expected = newestFirst(events.filter(isMeant));
      assert.ok(expected.length > 0, JSON.stringify(change));
      assert.deepEqual(
        await pages((page) => listDealerEvents(world.db, filter, page)),
        expected,
        JSON.stringify(change),
      );
      assert.equal((await countDealerEvents(world.db, filter)).value, expected.length);
    }
  });

  it('a first page reads a few rows, however many deliveries there are', async () => {
    const many = await openShop(world);
    const { integrationId } = many;
    await world.db.query(sql`
      with made as (
        select n, lpad(to_hex(n), 12, '0') as hex from generate_series(1, 20000) as n
      ), recorded as (
        insert into events (integration_id, id, type, created_at, body, has_delivery, object_id)
        select ${integrationId}, 'evt_01h455vb4pex5' || hex, case when n % 5000 = 0 then 'order.fulfilled' else 'listing.updated' end,
          now() - interval '1 day' + make_interval(secs => n), '{}', true, 'lst_' || (n % 5000) from made
      )
      insert into deliveries (integration_id, id, event_id, status, created_at, attempts, last_response_code)
      select ${integrationId}, 'dlv_01h455vb4pex5' || hex, 'evt_01h455vb4pex5' || hex,
        case when n % 5000 = 1 then 'dead_letter' when n = 17 then 'pending' else 'succeeded' end,
        now() - interval '1 day' + make_interval(secs => n), 1, case when n % 5000 = 1 then 500 else 200 end from made`);
    const filter = { ...EVERY_DELIVERY, integrationIds: [integrationId] };
    const changes: Partial<DeliveryFilter>[] = [
      {},
      { statuses: ['dead_letter'] },
      { statuses: ['pending'] },
      { statuses: ['succeeded'] },
      { types: ['order.fulfilled'] },
      { types: ['listing.updated'] },
      { objectIds: ['lst_7'] },
      { response: { from: 500, to: 599 } },
    ];
    for (const change of changes) {
      const read = await rowsRead((db) =>
        listDealerDeliveries(db, { ...filter, ...change }, { from: null, limit: 51 }),
      );
      assert.ok(read <= 51 * 5, `${read} rows for ${JSON.stringify(change)}`);
    }
    for (const change of [{}, { types: ['order.fulfilled'] }, { outcome: 'echo' as const }, { objectIds: ['lst_7'] }]) {
      const events = { ...EVERY_EVENT, integrationIds: [integrationId], ...change };
      const read = await rowsRead((db) => listDealerEvents(db, events, { from: null, limit: 51 }));
      assert.ok(read <= 51 * 5, `${read} rows of events for ${JSON.stringify(change)}`);
    }
  });

  type Plan = {
    'Actual Rows'?: number;
    'Actual Loops'?: number;
    'Rows Removed by Filter'?: number;
    'Relation Name'?: string;
    Plans?: Plan[];
  };

  /** How many rows of both tables the statements touch, those included that a filter drops. */
  async function rowsRead(read: (db: Database) => Promise<unknown>): Promise<number> {
    let count = 0;
    const explaining: Database = {
      ...world.db,
      transaction: (work, options) =>
        world.db.transaction((tx) => {
          const explained =
            (send: typeof tx.query) =>
            async <Found extends object>(statement: Sql) => {
              const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
                new Sql(`explain (analyze, format json) ${statement.text}`, statement.values, undefined),
              );
              count += rowsOf(row?.['QUERY PLAN'][0].Plan);
              return await send<Found>(statement);
            };
          return work({ ...tx, query: explained(tx.query), queryLast: explained(tx.queryLast) });
        }, options),
    };
    await read(explaining);
    return count;
  }

  function rowsOf(plan: Plan | undefined): number {
    if (plan === undefined) return 0;
    const loops = plan['Actual Loops'] ?? 0;
    const own =
      plan['Relation Name'] === undefined
        ? 0
        : ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0)) * loops;
    return (plan.Plans ?? []).reduce((sum, below) => sum + rowsOf(below), own);
  }
});
