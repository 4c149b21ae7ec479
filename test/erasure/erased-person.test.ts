import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { storeImportFile } from '../../src/inventory/import/import-files.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import { until } from '../harness/database/locks.ts';
import { signedIn } from '../harness/http/dashboard-client.ts';
import { addShop, freshKey, type Shop } from '../harness/shop.ts';
import { part, publishNew, watch } from '../harness/stock.ts';
import { type ConnectedReceiver, startWebhookWorld, type WebhookWorld } from '../harness/webhooks/webhook-world.ts';
import { searchDatabase } from './database-search.ts';

const PERSON = {
  external_id: 'ext-xq-5511',
  email: 'Xaviera.Quillfeather@Zanzibarmail.example',
  phone: '+41227319955',
  first_name: 'Xaviera',
  last_name: 'Quillfeather',
};
const ADDRESS = { name: 'Xaviera Quillfeather', line1: 'Umbelliferengasse 77', city: 'Geneva', country: 'CH' };
const METADATA = { note: 'metaflamingo-9931' };
const WORDS = ['quillfeather', 'xaviera', 'zanzibarmail', '227319955', 'umbelliferen', 'metaflamingo', 'ext-xq-5511'];

/** Everything that can hold a person, made through the API, by the dealer and by the receiver. */
describe('erasing a person', () => {
  let world: WebhookWorld;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let staff: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  let receiver: ConnectedReceiver;
  let customerId: string;
  const orders: Record<string, string> = {};
  const retries: { path: string; body: unknown; key: Record<string, string> }[] = [];
  let updatedBefore: string;
  let eventsBefore: unknown[];
  let salesBefore: unknown[];

  const call = async (method: string, path: string, body?: unknown, who = owner) => {
    const answer = await who.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const post = async (path: string, body: unknown, key: Record<string, string> = freshKey()) => {
    const answer = await shop.api.post(path, body, key);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    retries.push({ path, body, key });
    return answer.body;
  };
  const order = async (name: string, changes: object = {}) => {
    const itemId = await publishNew(world, shop, watch());
    const body = {
      channel_order_id: `SO-${name}`,
      customer: PERSON,
      shipping_address: ADDRESS,
      billing_address: ADDRESS,
      metadata: METADATA,
      lines: [{ listing_id: itemId, unit_amount: 990_000 }],
      ...changes,
    };
    orders[name] = (await post('/v1/orders', body)).id;
    return orders[name] ?? '';
  };
  const fulfilled = async (name: string) => {
    const id = await order(name);
    await call('POST', `/orders/${id}/confirm`);
    await call('POST', `/orders/${id}/fulfil`);
    return id;
  };
  const readEvents = () =>
    world.db.query(
      sql`select id, type, created_at from events where integration_id = ${shop.integrationId} order by id`,
    );
  const readSales = () =>
    world.db.query(sql`select id, amount, currency, units, status, order_id from sales order by id`);

  before(async () => {
    world = await startWebhookWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    shop = await addShop(world, owner);
    receiver = await world.connect(shop);
    await makePerson();
    await deliver();
    await leaveTraces();
    eventsBefore = await readEvents();
    salesBefore = await readSales();
    updatedBefore = (await shop.api.get('/v1/orders?limit=1')).body.data[0].updated_at;
  });
  after(() => world.stop());

  /** By single and bulk upserts, and a customer of an old address that is merged into the one of now. */
  async function makePerson() {
    const former = await post('/v1/customers', { email: 'old.quillfeather@zanzibarmail.example', address: ADDRESS });
    await order('merged', { customer: { email: 'old.quillfeather@zanzibarmail.example', last_name: 'Quillfeather' } });
    const made = await post('/v1/customers', { ...PERSON, company: 'Quillfeather Ateliers', address: ADDRESS });
    customerId = made.id;
    await post('/v1/customers/bulk', { customers: [PERSON, { email: 'neighbour@example.ch', phone: '+41227310001' }] });
    await call('POST', `/customers/${customerId}/merge/${former.id}`);
    const { updated_at } = await call('GET', `/customers/${customerId}`);
    await call('PATCH', `/customers/${customerId}`, { updated_at, company: 'Quillfeather Ateliers Ltd' });
  }

  /** A webhook that arrives, one that is given up, and one that waits; the receiver quotes what it gets. */
  async function deliver() {
    receiver.answer = (response, request) => response.writeHead(200).end(`thanks, ${request.body.slice(-600)}`);
    await fulfilled('delivered');
    await world.worker.settled();
    receiver.answer = (response) => response.writeHead(500).end(`cannot mail ${PERSON.email}`);
    const dead = await fulfilled('dead');
    await world.worker.settled();
    await world.db.query(sql`
      update deliveries d set attempts = 7, due_at = now(), is_waiting = false from events e
      where e.integration_id = d.integration_id and e.id = d.event_id and e.object_id = ${dead} and d.status = 'failed'`);
    await world.worker.settled();
    await world.worker.stop();
    await fulfilled('pending');
  }

  /** What the dealer and the client leave elsewhere. */
  async function leaveTraces() {
    const dismissed = await order('dismissed');
    await call('POST', `/orders/${dismissed}/dismiss`, { reason: 'Quillfeather has changed her mind' });
    const cancelled = await order('cancelled');
    await post(`/v1/orders/${cancelled}/cancel`, { reason: 'Xaviera asked for it' });
    await order('conflict', { customer: { email: PERSON.email, phone: '+41227310001' } });
    const unassigned = await order('unassigned');
    await call('PUT', `/orders/${unassigned}/customer`, { customer_id: null });
    const partId = await publishNew(world, shop, part({ units: 10 }));
    await post('/v1/reservations', { part_id: partId, reference: `cart of ${PERSON.email}` });
    await post('/v1/customers', { email: PERSON.email }, { 'idempotency-key': `for ${PERSON.email.toLowerCase()}` });
    await shop.api.get(`/v1/orders?channel_order_id=${encodeURIComponent(PERSON.email)}`);
    const { revision } = await call('GET', `/items/${partId}`);
    const notes = `Keep for Xaviera Quillfeather, ${PERSON.email}, ${PERSON.phone}`;
    await call('PATCH', `/items/${partId}`, { revision, private_notes: notes });
    await call('POST', '/sales', { item_id: partId, units: 1, amount: 5_000, customer_id: customerId });
    const view = { list: 'customers', name: `Only ${PERSON.email}`, is_shared: true };
    await call('POST', '/views', { ...view, query: `q=${encodeURIComponent(PERSON.email)}` });
    const file = `stock_number,private_notes\nW-900,"Of Xaviera Quillfeather, ${PERSON.email}"\n`;
    const bytes = Buffer.from(file);
    await storeImportFile(world.db, owner.organizationId, { name: 'stock.csv', kind: 'listing', bytes });
    await call('GET', `/customers/${customerId}/export`);
    await until(
      async () => (await world.db.query(sql`select 1 from api_requests where query like '%Zanzibar%'`)).length > 0,
      'the request was not logged',
    );
  }

  it('is the owner’s alone, of the dealer’s own customers', async () => {
    const denied = await staff.call('POST', `/customers/${customerId}/erase`);
    assert.equal(denied.status, 403);
    const stranger = await signedIn(world);
    assert.equal((await stranger.call('POST', `/customers/${customerId}/erase`)).status, 404);
    assert.equal((await call('GET', `/customers/${customerId}`)).email, PERSON.email);
  });

  it('makes the customer unknown at once, and once', async () => {
    const tables = new Set((await searchDatabase(world.db, WORDS)).map((found) => found.replace(/:.*/, '')));
    const expected = ['customers.email', 'orders.document', 'events.body', 'idempotency_records.body'];
    const quoted = ['deliveries.last_response_body', 'delivery_attempts.response_body', 'api_requests.query'];
    const typed = ['items.private_notes', 'audit_log.new_values', 'saved_views.query', 'stock_file_lines.cells'];
    for (const column of [...expected, ...quoted, ...typed, 'reservations.reference', 'idempotency_records.key']) {
      assert.ok(tables.has(column), `the test makes no trace in ${column}`);
    }
    const answers = await Promise.all([1, 2].map(() => owner.call('POST', `/customers/${customerId}/erase`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404]);
    assert.equal((await owner.call('GET', `/customers/${customerId}`)).status, 404);
    assert.deepEqual((await call('GET', '/customers?q=quillfeather')).data, []);
  });

  it('leaves no trace in any column of the database', async () => {
    assert.equal(await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 }), 1);
    assert.deepEqual(await searchDatabase(world.db, WORDS), []);
    assert.deepEqual(await world.db.query(sql`select id from customers where id = ${customerId}`), []);
    const { data } = await call('GET', `/audit?object_id=${customerId}`);
    assert.equal(data[0].action, 'customer.erased');
  });

  it('keeps amounts, lines and sales; the orders read null and are found by updated_after', async () => {
    for (const id of Object.values(orders)) {
      const { body } = await shop.api.get(`/v1/orders/${id}`);
      const nothing = {
        customer: null,
        customer_id: null,
        shipping_address: null,
        billing_address: null,
        metadata: null,
      };
      assert.partialDeepStrictEqual(body, { ...nothing, total_amount: 990_000 });
      assert.equal(body.lines.length, 1);
    }
    const { data } = (await shop.api.get(`/v1/orders?updated_after=${updatedBefore}`)).body;
    assert.deepEqual(data.map(({ id }: { id: string }) => id).sort(), Object.values(orders).sort());
    assert.deepEqual(await readSales(), salesBefore);
    assert.deepEqual(await world.db.query(sql`select id from sales where customer_id is not null`), []);
    assert.deepEqual((await call('GET', '/customers/conflicts')).data, []);
  });

  it('makes no event, and what is still to be sent is sent without the person', async () => {
    assert.deepEqual(await readEvents(), eventsBefore);
    receiver.answer = (response) => response.writeHead(200).end('ok');
    const count = receiver.received.length;
    world.worker.ensureStarted();
    await world.worker.settled();
    const late = receiver.received.slice(count).filter(({ type }) => type === 'order.fulfilled');
    assert.deepEqual(
      late.map(({ body }) => JSON.parse(body).data.object.id),
      [orders.pending],
    );
    for (const { body } of late) for (const word of WORDS) assert.ok(!body.toLowerCase().includes(word), word);
  });

  it('answers a retry of each write with its stored answer, and writes nothing', async () => {
    const rows = () => world.db.query(sql`select (select count(*) from orders) o, (select count(*) from customers) c`);
    const count = await rows();
    for (const { path, body, key } of retries) {
      const answer = await shop.api.post(path, body, key);
      assert.equal(answer.headers['idempotent-replay'], 'true', path);
      for (const word of WORDS) assert.ok(!JSON.stringify(answer.body).toLowerCase().includes(word), path);
    }
    assert.deepEqual(await rows(), count);
  });

  it('drops the answer to an attempt that is on its way, and sends the event again without the person', async () => {
    const email = 'underway@zanzibarmail.example';
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    const quote = `cannot mail ${email}`;
    receiver.answer = (response, { body }) =>
      void (body.includes(email) ? mayAnswer : Promise.resolve()).then(() => {
        response.writeHead(500).end(body.includes(email) ? quote : '');
      });
    const id = await order('underway', { customer: { email } });
    const { customer_id } = (await shop.api.get(`/v1/orders/${id}`)).body;
    await call('POST', `/orders/${id}/confirm`);
    await call('POST', `/orders/${id}/fulfil`);
    const aboutIt = () => receiver.received.filter(({ body }) => body.includes(id));
    await until(async () => aboutIt().length === 1, 'the first attempt did not come');
    await call('POST', `/customers/${customer_id}/erase`);
    await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    answer();
    await until(async () => aboutIt().length > 1, 'the event was not sent again');
    await world.worker.settled();
    assert.ok(!aboutIt().at(-1)?.body.includes(email));
    assert.deepEqual(await searchDatabase(world.db, [email]), []);
  });
});
