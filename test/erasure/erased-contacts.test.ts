import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../src/db/sql.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import { signedIn } from '../harness/http/dashboard-client.ts';
import { addShop, freshKey, type Shop } from '../harness/shop.ts';
import { publishNew, watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

describe('by what an erasure finds a person', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let shop: Shop;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    shop = await addShop(world, owner);
  });
  after(() => world.stop());

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await owner.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const post = async (path: string, body: unknown) => {
    const answer = await shop.api.post(path, body, freshKey());
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const order = (number: string, customer: object) =>
    post('/v1/orders', { channel_order_id: number, customer, shipping_address: { line1: 'Quai 1', city: 'Geneva' } });
  const noteOn = async (itemId: string, notes: string) => {
    const { revision } = await call('GET', `/items/${itemId}`);
    await call('PATCH', `/items/${itemId}`, { revision, private_notes: notes });
  };
  const notesOf = async (itemId: string) => (await call('GET', `/items/${itemId}`)).private_notes;
  const erase = async (customerId: string) => {
    await call('POST', `/customers/${customerId}/erase`);
    assert.equal(await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 }), 1);
  };

  it('a phone that nobody could call names nobody: orders and notes of others keep it', async () => {
    for (const [index, phone] of ['n/a', '0', '022 731 99 55', 'none'].entries()) {
      const anna = await order(`A-${index}`, { email: `anna${index}@example.ch`, phone });
      const bob = await order(`B-${index}`, { email: `bob${index}@example.ch`, phone });
      const itemId = await publishNew(world, shop, watch());
      await noteOn(itemId, `Box: ${phone}, papers: yes`);
      await erase(anna.customer_id);
      const { body } = await shop.api.get(`/v1/orders/${bob.id}`);
      assert.equal(body.customer?.email, `bob${index}@example.ch`);
      assert.equal(body.shipping_address?.line1, 'Quai 1');
      assert.equal(await notesOf(itemId), `Box: ${phone}, papers: yes`);
      assert.equal((await shop.api.get(`/v1/orders/${anna.id}`)).body.customer, null);
    }
  });

  it('a contact that an older version noted and that names nobody is left alone', async () => {
    const anna = await order('A-old', { email: 'anna.old@example.ch' });
    const bob = await order('B-old', { email: 'bob.old@example.ch', phone: 'n/a' });
    await call('POST', `/customers/${anna.customer_id}/erase`);
    await world.db.query(sql`
      update erasure_jobs set person = jsonb_set(person, '{contacts}', person -> 'contacts' || '["n/a"]') where status = 'pending'`);
    await runErasures(world.channel, undefined, { pauseMs: 0, settleMs: 0 });
    assert.equal((await shop.api.get(`/v1/orders/${bob.id}`)).body.customer.email, 'bob.old@example.ch');
  });

  it('words that are also JSON, or names of fields, are replaced in texts only', async () => {
    for (const [index, company] of ['null', 'true', '12', 'Title', 'privateNotes'].entries()) {
      const email = `cleo${index}@example.ch`;
      const { id } = await post('/v1/customers', { email, company });
      const itemId = await publishNew(world, shop, watch());
      await noteOn(itemId, `Reserved for ${email} of ${company}`);
      await erase(id);
      assert.equal(await notesOf(itemId), 'Reserved for [erased] of [erased]');
      const { data } = await call('GET', `/audit?object_id=${itemId}`);
      const edit = data.find(({ action }: { action: string }) => action === 'item.edited');
      assert.deepEqual(edit.changes, [{ field: 'privateNotes', old: '', new: 'Reserved for [erased] of [erased]' }]);
    }
  });

  it('a stored answer that quotes a contact stays JSON with the same fields', async () => {
    const { id } = await post('/v1/customers', { email: 'title@example.ch', company: 'Title' });
    const key = freshKey();
    const body = { channel_order_id: 'Q-1', lines: [{ title: 'Engraving: title@example.ch', unit_amount: 1_000 }] };
    const { body: first } = await shop.api.post('/v1/orders', body, key);
    await erase(id);
    const { status, body: again } = await shop.api.post('/v1/orders', body, key);
    assert.equal(status, 201);
    assert.equal(again.lines[0].title, 'Engraving: [erased]');
    assert.deepEqual(Object.keys(again), Object.keys(first));
  });

  it('contacts that a correction or a merge dropped are found, and the export of the person has them', async () => {
    const kept = await post('/v1/customers', { email: 'dora@work.example', external_id: 'dora' });
    const merged = await post('/v1/customers', { email: 'dora@home.example', phone: '+41227310042' });
    const itemId = await publishNew(world, shop, watch());
    await noteOn(itemId, 'For dora@home.example or dora@first.example, else dora@typo.example');
    const { updated_at } = await call('GET', `/customers/${merged.id}`);
    await call('PATCH', `/customers/${merged.id}`, { updated_at, email: 'dora@typo.example' });
    await call('POST', `/customers/${kept.id}/merge/${merged.id}`);
    await post('/v1/customers', { external_id: 'dora', email: 'dora@first.example' });
    await post('/v1/customers', { external_id: 'dora', email: 'dora@now.example' });
    const exported = await call('GET', `/customers/${kept.id}/export`);
    assert.deepEqual(exported.former_contacts, [
      'dora@first.example',
      'dora@work.example',
      'dora@typo.example',
      'dora@home.example',
    ]);
    assert.equal(exported.customer.phone, '+41227310042');
    await erase(kept.id);
    assert.equal(await notesOf(itemId), 'For [erased] or [erased], else [erased]');
  });

  it('a former contact that is another customer’s is left alone', async () => {
    const { id } = await post('/v1/customers', { email: 'fritz@example.ch' });
    const { updated_at } = await call('GET', `/customers/${id}`);
    await call('PATCH', `/customers/${id}`, { updated_at, email: 'emil@example.ch' });
    const fritz = await order('F-1', { email: 'fritz@example.ch' });
    assert.notEqual(fritz.customer_id, id);
    await erase(id);
    assert.equal((await shop.api.get(`/v1/orders/${fritz.id}`)).body.customer.email, 'fritz@example.ch');
  });
});
