import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { holdLock, until, untilBlocked } from '../../../../test/harness/database/locks.ts';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { rawSocket } from '../../../../test/harness/http/raw-socket.ts';
import { addShop, type Shop } from '../../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { sql } from '../../../db/sql.ts';
import { unnestRows } from '../../../db/values/unnest-rows.ts';
import { newId } from '../../../ids/new-id.ts';
import { readCsv } from '../../../inventory/csv/csv-file.ts';
import { csvPieces } from './csv-export.ts';

it('an export as CSV reads fewer rows at a time if they are large, and each row once', async () => {
  const CELL_BYTES = 100_000;
  const isLarge = (index: number) => index < 60 || index >= 500;
  const rows = Array.from({ length: 560 }, (_, index) => ({ id: String(index).padStart(3, '0') }));
  const asked: number[] = [];
  const pieces: string[] = [];
  const list = {
    header: ['id', 'text'],
    async read(start: { position: { id: string } } | null, limit: number) {
      asked.push(limit);
      return rows.filter(({ id }) => start === null || id > start.position.id).slice(0, limit);
    },
    cellsOf: async (read: { id: string }[]) =>
      read.map(({ id }) => [id, 'x'.repeat(isLarge(Number(id)) ? CELL_BYTES : 10)]),
  };
  for await (const piece of csvPieces(list)) pieces.push(piece);
  const written = readCsv(Buffer.from(pieces.join('')), ([id]) => id);
  assert.deepEqual(
    written.rows.map(({ cells }) => cells),
    rows.map(({ id }) => id),
  );
  // The first large rows; further on there are small ones, which are read by the hundred.
  const large = pieces.slice(1, 20).map((piece) => piece.length);
  assert.ok(Math.max(...large) < 11 * CELL_BYTES, `a piece has ${Math.max(...large)} bytes`);
  assert.ok(large.filter((bytes) => bytes > 3 * CELL_BYTES).length < 2, `pieces of ${large.join(', ')} bytes`);
  assert.equal(Math.max(...asked), 100);
});

it('an export as CSV ends at its limit of bytes', async () => {
  const CELL_BYTES = 8_388_608;
  const LIMIT_BYTES = 536_870_912;
  const endless = {
    header: ['text'],
    read: async () => ({ rows: [{ id: '1' }], isMore: true }),
    cellsOf: async () => [['x'.repeat(CELL_BYTES)]],
  };
  let bytes = 0;
  for await (const piece of csvPieces(endless)) {
    bytes += piece.length;
    assert.ok(bytes <= LIMIT_BYTES + 2 * CELL_BYTES, 'the file goes on');
  }
  assert.ok(bytes >= LIMIT_BYTES);
});

describe('the export of lists as CSV', () => {
  let world: World;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  let orderId: string;
  before(async () => {
    world = await startWorld();
    const { organizationId } = await world.dealer();
    staff = await signedIn(world, { organizationId, role: 'staff' });
    shop = await addShop(world, staff);
    const itemId = await publishNew(world, shop, watch({ title: 'Speedmaster', stockNumber: 'W-900' }));
    const customer = { email: 'ana@example.ch', first_name: 'Ana', last_name: 'Roth' };
    const lines = [{ listing_id: itemId, unit_amount: 990_050, title: 'A Speedmaster' }];
    const order = await shop.post('/v1/orders', { channel_order_id: '=1+1', customer, lines });
    orderId = order.body.id;
    await staff.call('POST', `/orders/${orderId}/confirm`);
    await shop.post('/v1/orders', { channel_order_id: 'SO-2' });
  });
  after(() => world.stop());

  it('is logged like any other request if the client goes while it is sent', async () => {
    const lock = await holdLock(world.db, 'lock table orders in access exclusive mode', []);
    const client = rawSocket(world.port);
    client.write(
      `GET /api/dashboard/orders/export.csv?tab=all&q=gone HTTP/1.1\r\nHost: x\r\nCookie: ${staff.cookie()}\r\n\r\n`,
    );
    await untilBlocked(world.db);
    client.close();
    await lock.release();
    const linesOf = (text: string) => world.logLines.filter((line) => line.includes(text));
    await until(async () => linesOf('export.csv').length > 0, 'the request was not logged');
    assert.deepEqual([linesOf('already sent'), linesOf('q=gone')], [[], []]);
  });

  async function rowsOf(path: string, who: Pick<typeof staff, 'call'> = staff): Promise<Record<string, string>[]> {
    const answer = await who.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /^attachment; filename="(orders|sales|customers|deliveries|events|requests)\.csv"$/,
    );
    const { header, rows } = readCsv(Buffer.from(answer.text), (cells) => cells);
    return rows.map(({ cells }) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])));
  }

  it('has the orders that the filters of the list match, with buyer and amounts', async () => {
    const [order, ...others] = await rowsOf('/orders/export.csv?tab=matched');
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(order, {
      status: 'matched',
      buyer: 'Ana Roth',
      email: 'ana@example.ch',
      id: orderId,
    });
    assert.partialDeepStrictEqual(order, {
      total: '9900.50',
      currency: 'USD',
      items: '1 × A Speedmaster',
      matched: '1',
    });
    // A spreadsheet would run it as a formula.
    assert.match(order?.order ?? '', /^[^=]=1\+1$/);
    const numbers = (await rowsOf('/orders/export.csv?tab=all')).map((row) => row.order);
    assert.equal(numbers[0], 'SO-2');
    assert.equal(numbers.length, 2);
    assert.deepEqual(await rowsOf('/orders/export.csv?tab=all&q=nobody'), []);
  });

  it('has the sales that the filters of the list match', async () => {
    const [sale, ...others] = await rowsOf(`/sales/export.csv?channel=${shop.integrationId}`);
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(sale, {
      item: 'Speedmaster',
      'stock number': 'W-900',
      amount: '9900.50',
      buyer: 'Ana Roth',
    });
    assert.deepEqual(await rowsOf('/sales/export.csv?channel=counter'), []);
  });

  it('has customers, events, deliveries and API requests, with the filters of their lists', async () => {
    const [customer, ...others] = await rowsOf('/customers/export.csv?q=ana');
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(customer, { name: 'Ana Roth', email: 'ana@example.ch', orders: '1' });
    assert.equal(customer?.spent, '9900.50 USD');
    assert.deepEqual(await rowsOf('/customers/export.csv?q=nobody'), []);
    const events = await rowsOf('/events/export.csv?type=listing.published');
    assert.partialDeepStrictEqual(events, [{ event: 'listing.published', outcome: 'no_url', object: 'Speedmaster' }]);
    assert.deepEqual(await rowsOf('/deliveries/export.csv?status=succeeded'), []);
    await until(
      async () => (await rowsOf('/requests/export.csv?method=POST')).length === 2,
      'the requests are not in the log',
    );
    const [request] = await rowsOf('/requests/export.csv?method=POST&status=2xx');
    assert.partialDeepStrictEqual(request, { method: 'POST', route: '/v1/orders', status: '201', code: '' });
    assert.deepEqual(await rowsOf('/requests/export.csv?to=2001-01-01T00:00:00Z'), []);
  });

  it('shows another dealer nothing', async () => {
    const stranger = await signedIn(world);
    for (const path of [
      '/orders/export.csv?tab=all',
      `/orders/export.csv?tab=all&integration_id=${shop.integrationId}`,
    ]) {
      assert.deepEqual(await rowsOf(path, stranger), []);
    }
    assert.deepEqual(await rowsOf(`/sales/export.csv?channel=${shop.integrationId}`, stranger), []);
    for (const list of ['customers', 'deliveries', 'events', 'requests']) {
      assert.deepEqual(await rowsOf(`/${list}/export.csv`, stranger), [], list);
    }
  });

  it('reads more than one batch, and each order once', async () => {
    const copies = Array.from({ length: 1_100 }, () => ({ id: newId('order') }));
    await world.db.query(sql`
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at,
        updated_at)
      select o.integration_id, copies.id, o.organization_id, copies.id, 'received', false, o.document, o.created_at,
        o.updated_at
      from orders o, ${unnestRows('copies', copies, { id: 'text' })} where o.id = ${orderId}`);
    const ids = (await rowsOf('/orders/export.csv?tab=all')).map(({ id }) => id);
    assert.equal(ids.length, 1_102);
    assert.equal(new Set(ids).size, 1_102);
  });
});
