import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { TESTER } from '../../../../../test/harness/actor.ts';
import { admissionCounter, lockClock, untilBlocked } from '../../../../../test/harness/database/locks.ts';
import { faultOf, freshKey, openShop, type Shop } from '../../../../../test/harness/shop.ts';
import { part, publishNew, stockOf, watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { sql } from '../../../../db/sql.ts';
import { newId } from '../../../../ids/new-id.ts';
import { setHidden } from '../../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../../inventory/publications.ts';
import { expireDueReservations, pruneReservations } from '../../../../sales/reservations/expire-reservations.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());
afterEach(() => world.setTime(null));

async function reserve(shop: Shop, body: object) {
  const { status, body: made, text } = await shop.post('/v1/reservations', body);
  assert.equal(status, 201, text);
  return made;
}

/** The time is counted from the moment of the request, which is a little before the stamp. */
function assertLasts({ created_at, expires_at }: { created_at: string; expires_at: string }, seconds: number): void {
  const lastsMs = Date.parse(expires_at) - Date.parse(created_at);
  assert.ok(lastsMs > seconds * 1_000 - 5_000 && lastsMs <= seconds * 1_000, `${lastsMs} ms`);
}

describe('a reservation', () => {
  it('is answered with its item, its time and its reference, and holds the units from then on', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    const made = await reserve(shop, { part_id: id, quantity: 2, ttl_seconds: 120, reference: 'cart-9' });
    const { id: reservationId, created_at, updated_at, expires_at, ...rest } = made;
    assert.match(reservationId, /^rsv_/);
    assert.equal(updated_at, created_at);
    assertLasts({ expires_at, created_at }, 120);
    assert.deepEqual(rest, {
      object: 'reservation',
      status: 'active',
      is_test: false,
      listing_id: null,
      part_id: id,
      quantity: 2,
      reference: 'cart-9',
      order_id: null,
    });
    assert.equal((await shop.api.get(`/v1/parts/${id}`)).body.quantity, 3);
    assert.deepEqual((await shop.api.get(`/v1/reservations/${reservationId}`)).body, made);
  });

  it('holds one unit for 15 minutes if nothing else is said; the last unit of a listing makes it reserved', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const made = await reserve(shop, { listing_id: id });
    assert.deepEqual([made.quantity, made.reference, made.listing_id], [1, null, id]);
    assertLasts(made, 900);
    assert.equal((await shop.api.get(`/v1/listings/${id}`)).body.status, 'reserved');
    assert.deepEqual((await shop.api.get('/v1/listings')).body.data, []);
  });

  it('is refused for input that makes no sense, with the field', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const wrong: [object, string][] = [
      [{}, 'listing_id'],
      [{ listing_id: '', part_id: null }, 'listing_id'],
      [{ listing_id: id, part_id: newId('part') }, 'part_id'],
      [{ listing_id: id, quantity: 0 }, 'quantity'],
      [{ listing_id: id, quantity: 10_001 }, 'quantity'],
      [{ listing_id: id, ttl_seconds: 59 }, 'ttl_seconds'],
      [{ listing_id: id, ttl_seconds: 3_601 }, 'ttl_seconds'],
      [{ listing_id: id, ttl_seconds: 60.5 }, 'ttl_seconds'],
      [{ listing_id: id, reference: 'x'.repeat(256) }, 'reference'],
    ];
    for (const [body, param] of wrong) {
      const fault = faultOf(await shop.post('/v1/reservations', body));
      assert.deepEqual(fault, { status: 400, code: 'invalid_request', param }, JSON.stringify(body));
    }
    const { id: reservationId } = await reserve(shop, { listing_id: id });
    for (const body of [{}, { ttl_seconds: 59 }, { ttl_seconds: null }]) {
      const fault = faultOf(await shop.post(`/v1/reservations/${reservationId}/extend`, body));
      assert.deepEqual(fault, { status: 400, code: 'invalid_request', param: 'ttl_seconds' });
    }
  });

  it('needs an Idempotency-Key, and costs one token like every request about it', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    assert.equal(faultOf(await shop.api.post('/v1/reservations', { listing_id: id })).code, 'missing_idempotency_key');
    const left = async (answer: Promise<{ headers: Record<string, string> }>) =>
      Number((await answer).headers['x-ratelimit-remaining']);
    const first = await left(shop.api.get('/v1/me'));
    const made = await shop.post('/v1/reservations', { listing_id: id });
    const path = `/v1/reservations/${made.body.id}`;
    const spent = [
      await left(Promise.resolve(made)),
      await left(shop.post(`${path}/extend`, { ttl_seconds: 60 })),
      await left(shop.post(`${path}/release`)),
      await left(shop.api.get(path)),
      await left(shop.api.get('/v1/reservations')),
    ].map((remaining) => first - remaining);
    assert.deepEqual(spent, [1, 2, 3, 4, 5]);
  });

  it('is not made of an item that the client can’t read', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const foreign = await publishNew(world, stranger, watch());
    const spare = await publishNew(world, shop, part());
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [spare], false);
    for (const [field, id, code] of [
      ['listing_id', foreign, 'listing_not_found'],
      ['listing_id', newId('listing'), 'listing_not_found'],
      ['listing_id', 'nonsense', 'listing_not_found'],
      ['listing_id', spare, 'listing_not_found'],
      ['part_id', spare, 'part_not_found'],
      ['part_id', foreign, 'part_not_found'],
    ]) {
      const fault = faultOf(await shop.post('/v1/reservations', { [field as string]: id }));
      assert.deepEqual(fault, { status: 404, code, param: field }, String(id));
    }
    assert.deepEqual(await stockOf(world, foreign), { units: 1, held: 0 });
  });

  it('is refused with what is left when too few units are, and when the item is not for sale', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    await reserve(shop, { part_id: id, quantity: 3 });
    const refused = await shop.post('/v1/reservations', { part_id: id, quantity: 3 });
    assert.deepEqual(faultOf(refused), { status: 409, code: 'not_available' });
    assert.deepEqual([refused.body.error.type, refused.body.error.remaining_quantity], ['conflict_error', 2]);
    await setHidden(world.channel, TESTER, shop.organizationId, [id], true);
    const hidden = await shop.post('/v1/reservations', { part_id: id });
    assert.deepEqual([hidden.status, hidden.body.error.remaining_quantity], [409, 0]);
    const watchId = await publishNew(world, shop, watch());
    await setPublished(world.channel, TESTER, shop.organizationId, shop.integrationId, [watchId], false);
    const off = await shop.post('/v1/reservations', { listing_id: watchId });
    assert.deepEqual([off.body.error.code, off.body.error.remaining_quantity], ['not_available', 0]);
    assert.deepEqual(await stockOf(world, id), { units: 5, held: 3 });
  });

  it('is one of at most 100 that are active; those that ended do not count', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 1_000 }));
    const made = [];
    for (let index = 0; index < 100; index++) made.push(await reserve(shop, { part_id: id }));
    const refused = await shop.post('/v1/reservations', { part_id: id });
    assert.deepEqual(faultOf(refused), { status: 409, code: 'too_many_reservations' });
    await shop.post(`/v1/reservations/${made[0].id}/release`);
    await reserve(shop, { part_id: id });
    assert.equal((await shop.post('/v1/reservations', { part_id: id })).status, 409);
    // Also before anybody has ended those whose time is over.
    world.setTime(new Date(Date.now() + 1_000_000));
    await reserve(shop, { part_id: id });
    assert.deepEqual(await stockOf(world, id), { units: 1_000, held: 1 });
  });

  it('is repeated by a retry, and another body under its key is refused', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 5 }));
    const key = freshKey();
    const first = await shop.api.post('/v1/reservations', { part_id: id }, key);
    const again = await shop.api.post('/v1/reservations', { part_id: id }, key);
    assert.deepEqual([again.status, again.text, again.headers['idempotent-replay']], [201, first.text, 'true']);
    assert.deepEqual(await stockOf(world, id), { units: 5, held: 1 });
    const other = await shop.api.post('/v1/reservations', { part_id: id, quantity: 2 }, key);
    assert.deepEqual(faultOf(other), { status: 409, code: 'key_reused_with_different_body' });
    for (const [path, body] of [
      ['extend', { ttl_seconds: 60 }],
      ['release', {}],
    ] as const) {
      const own = freshKey();
      const done = await shop.api.post(`/v1/reservations/${first.body.id}/${path}`, body, own);
      const replay = await shop.api.post(`/v1/reservations/${first.body.id}/${path}`, body, own);
      assert.deepEqual([replay.status, replay.text, replay.headers['idempotent-replay']], [200, done.text, 'true']);
    }
  });

  it('is made once by 20 requests with the same key at the same time', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 50 }));
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.api.post('/v1/reservations', { part_id: id }, key)),
    );
    assert.deepEqual([...new Set(answers.map((answer) => `${answer.status} ${answer.text}`))].length, 1);
    assert.deepEqual(await stockOf(world, id), { units: 50, held: 1 });
  });

  it('that was refused spends no key: the same request succeeds when units are free', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const first = await reserve(shop, { listing_id: id });
    const key = freshKey();
    assert.equal((await shop.api.post('/v1/reservations', { listing_id: id }, key)).status, 409);
    await shop.post(`/v1/reservations/${first.id}/release`);
    assert.equal((await shop.api.post('/v1/reservations', { listing_id: id }, key)).status, 201);
  });
});

describe('releasing a reservation', () => {
  it('gives the units back; again it changes nothing, also after expiry', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, watch());
    const { id: first } = await reserve(shop, { listing_id: id });
    const released = await shop.post(`/v1/reservations/${first}/release`);
    assert.deepEqual([released.status, released.body.status], [200, 'released']);
    assert.ok(released.body.updated_at > released.body.created_at);
    const again = await shop.post(`/v1/reservations/${first}/release`, {});
    assert.deepEqual([again.status, again.body], [200, released.body]);
    const { id: second } = await reserve(shop, { listing_id: id });
    world.setTime(new Date(Date.now() + 1_000_000));
    const expired = await shop.post(`/v1/reservations/${second}/release`);
    assert.deepEqual([expired.status, expired.body.status], [200, 'expired']);
    assert.deepEqual(await stockOf(world, id), { units: 1, held: 0 });
  });

  it('and extending it are refused for one that an order has used', async () => {
    const shop = await openShop(world);
    const listingId = await publishNew(world, shop, watch());
    const { id } = await reserve(shop, { listing_id: listingId });
    const lines = [{ listing_id: listingId, reservation_id: id }];
    const { body: order } = await shop.post('/v1/orders', { channel_order_id: 'SO-1', lines });
    const used = (await shop.api.get(`/v1/reservations/${id}`)).body;
    assert.deepEqual([used.status, used.order_id], ['used', order.id]);
    const release = await shop.post(`/v1/reservations/${id}/release`);
    assert.deepEqual(faultOf(release), { status: 409, code: 'reservation_not_active' });
    const extend = await shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds: 60 });
    assert.deepEqual(faultOf(extend), { status: 409, code: 'reservation_not_active' });
  });

  it('and every other request about it are 404 for an id that is unknown, malformed or another integration’s', async () => {
    const shop = await openShop(world);
    const stranger = await openShop(world);
    const listingId = await publishNew(world, stranger, watch());
    const { id: foreign } = await reserve(stranger, { listing_id: listingId });
    for (const id of [foreign, newId('reservation'), 'rsv_nonsense', 'nonsense']) {
      for (const answer of [
        await shop.api.get(`/v1/reservations/${id}`),
        await shop.post(`/v1/reservations/${id}/release`),
        await shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds: 60 }),
      ]) {
        assert.deepEqual(faultOf(answer), { status: 404, code: 'reservation_not_found' }, id);
      }
    }
    assert.equal((await stranger.api.get(`/v1/reservations/${foreign}`)).body.status, 'active');
  });
});

describe('extending a reservation', () => {
  it('counts its time anew from now, up to two hours after it was made', async () => {
    const shop = await openShop(world);
    const listingId = await publishNew(world, shop, watch());
    const start = Date.now() + 60_000;
    world.setTime(new Date(start));
    const { id, created_at } = await reserve(shop, { listing_id: listingId, ttl_seconds: 3_600 });
    const createdMs = Date.parse(created_at);
    const extend = async (atMs: number, ttl_seconds: number) => {
      world.setTime(new Date(atMs));
      const { status, body, text } = await shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds });
      assert.equal(status, 200, text);
      assert.equal(body.status, 'active');
      return Date.parse(body.expires_at);
    };
    assert.equal(await extend(start + 600_000, 60), start + 660_000);
    assert.equal(await extend(start + 610_000, 3_600), start + 4_210_000);
    assert.equal(await extend(start + 4_200_000, 3_600), createdMs + 7_200_000);
    assert.equal(await extend(start + 7_100_000, 3_600), createdMs + 7_200_000);
    world.setTime(new Date(createdMs + 7_200_000));
    const late = await shop.post(`/v1/reservations/${id}/extend`, { ttl_seconds: 60 });
    assert.deepEqual(faultOf(late), { status: 409, code: 'reservation_not_active' });
    assert.equal((await shop.api.get(`/v1/reservations/${id}`)).body.status, 'expired');
  });
});

describe('the list of reservations', () => {
  it('holds those of the integration, newest change first, in pages, and filters by status', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 50 }));
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push((await reserve(shop, { part_id: id })).id);
    await shop.post(`/v1/reservations/${ids[1]}/release`);
    await shop.post('/v1/orders', { channel_order_id: 'SO', lines: [{ part_id: id, reservation_id: ids[0] }] });
    const expected = [ids[0], ids[1], ids[4], ids[3], ids[2]];
    const read: string[] = [];
    for (let path = '/v1/reservations?limit=2'; ; ) {
      const { body } = await shop.api.get(path);
      read.push(...body.data.map((one: { id: string }) => one.id));
      if (!body.has_more) break;
      path = `/v1/reservations?limit=2&after=${body.next_cursor}`;
    }
    assert.deepEqual(read, expected);
    const filtered = async (status: string) =>
      (await shop.api.get(`/v1/reservations?status=${status}`)).body.data.map((one: { id: string }) => one.id);
    assert.deepEqual(await filtered('active'), [ids[4], ids[3], ids[2]]);
    assert.deepEqual(await filtered('used,released'), [ids[0], ids[1]]);
    assert.deepEqual(await filtered('expired'), []);
    assert.deepEqual(await filtered('any'), expected);
    const wrong = faultOf(await shop.api.get('/v1/reservations?status=open'));
    assert.deepEqual(wrong, { status: 400, code: 'invalid_request', param: 'status' });
    const foreign = (await shop.api.get('/v1/parts?limit=1')).body.next_cursor ?? 'nonsense';
    assert.equal(faultOf(await shop.api.get(`/v1/reservations?after=${foreign}`)).code, 'invalid_cursor');
  });

  it('says what changed at once, and 304 while nothing did', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 50 }));
    const { id: reservationId } = await reserve(shop, { part_id: id });
    const { headers } = await shop.api.get('/v1/reservations');
    const etag = { 'if-none-match': headers.etag ?? '' };
    assert.equal((await shop.api.get('/v1/reservations', etag)).status, 304);
    world.setTime(new Date(Date.now() + 1_000_000));
    await expireDueReservations(world.channel);
    const changed = await shop.api.get('/v1/reservations', etag);
    assert.deepEqual([changed.status, changed.body.data[0].status], [200, 'expired']);
    assert.equal((await shop.api.get(`/v1/reservations/${reservationId}`)).body.status, 'expired');
  });

  it('is answered as each of its changes left it, also if they share a transaction', async () => {
    const shop = await openShop(world);
    const partId = await publishNew(world, shop, part({ units: 50 }));
    const [first, reservation] = [await reserve(shop, { part_id: partId }), await reserve(shop, { part_id: partId })];
    const clock = await lockClock(world.db, shop.integrationId);
    const running = shop.post(`/v1/reservations/${first.id}/release`);
    await untilBlocked(world.db);
    // These wait for the write that runs, and go together after it.
    const isAdmitted = await admissionCounter(shop);
    const change = (path: string, body?: object) => shop.post(`/v1/reservations/${reservation.id}/${path}`, body);
    const extended = [change('extend', { ttl_seconds: 120 }), change('extend', { ttl_seconds: 240 })];
    await isAdmitted(2);
    const released = change('release');
    await isAdmitted(3);
    await clock.release();
    await running;
    const answers = (await Promise.all([...extended, released])).map(({ body }) => body);
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['active', 'active', 'released'],
    );
    const [short, long, last] = answers.map(({ expires_at }) => Date.parse(expires_at));
    assert.equal((long ?? 0) - (short ?? 0), 120_000);
    assert.equal(last, long);
    assert.equal(new Set(answers.map(({ updated_at }) => updated_at)).size, 1, 'they shared no transaction');
    assert.deepEqual((await shop.api.get(`/v1/reservations/${reservation.id}`)).body, answers[2]);
  });

  it('forgets a reservation 30 days after it has ended', async () => {
    const shop = await openShop(world);
    const id = await publishNew(world, shop, part({ units: 50 }));
    const ended = await reserve(shop, { part_id: id });
    const active = await reserve(shop, { part_id: id });
    await shop.post(`/v1/reservations/${ended.id}/release`);
    const days = (count: number) => new Date(Date.now() + count * 86_400_000);
    await pruneReservations(world.db, days(29));
    const ids = async () =>
      (await world.db.query<{ id: string }>(sql`select id from reservations where item_id = ${id} order by id`)).map(
        (row) => row.id,
      );
    assert.deepEqual(await ids(), [ended.id, active.id]);
    await pruneReservations(world.db, days(31));
    assert.deepEqual(await ids(), [active.id]);
  });
});
