import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signedIn } from '../../../../test/harness/http/dashboard-client.ts';
import { part, watch } from '../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { emailKey } from '../../../customers/customer-draft.ts';
import { sql } from '../../../db/sql.ts';
import { listChannels } from '../../../dealers/integrations/integrations.ts';
import { newId } from '../../../ids/new-id.ts';
import { createItem } from '../../../inventory/items/item-operations.ts';
import { setPublished } from '../../../inventory/publications.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('the search over everything', () => {
  let world: World;
  let staff: Person;
  let stranger: Person;
  let integrationId: string;
  before(async () => {
    world = await startWorld();
    staff = await signedIn(world, { role: 'staff' });
    stranger = await signedIn(world);
    integrationId = (await listChannels(world.db, staff.organizationId))[0]?.id ?? '';
  });
  after(() => world.stop());

  const find = async (text: string, person = staff): Promise<[kind: string, id: string][]> => {
    const answer = await person.call('GET', `/search?q=${encodeURIComponent(text)}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.map(({ kind, id }: { kind: string; id: string }) => [kind, id]);
  };
  const create = (input: ReturnType<typeof watch> | ReturnType<typeof part>) =>
    createItem(world.channel, COMMAND_LINE, staff.organizationId, input);

  it('finds watches and parts by id, stock number, reference and words, the exact number first', async () => {
    const id = await create(watch({ stockNumber: 'W-77', title: 'Nautilus' }));
    const other = await create(watch({ stockNumber: 'W-77-B', title: 'Aquanaut' }));
    const crown = await create(part({ title: 'Nautilus crown' }));
    assert.deepEqual(await find(id), [['watch', id]]);
    assert.deepEqual(await find(crown), [['part', crown]]);
    assert.deepEqual(await find('w-77'), [
      ['watch', id],
      ['watch', other],
    ]);
    assert.deepEqual(await find('nautilus'), [
      ['watch', id],
      ['part', crown],
    ]);
  });

  it('finds an order by its id and by the number of the website, and a customer by email and external id', async () => {
    const [orderId, customerId] = [newId('order'), newId('customer')];
    await world.db.query(sql`
      insert into customers (id, organization_id, is_test, email, email_key, first_name, created_at, updated_at)
      values (${customerId}, ${staff.organizationId}, false, 'Ann@Buyer.example', 'ann@buyer.example', 'Ann', now(), now())`);
    await world.db.query(sql`
      insert into customer_external_ids (integration_id, is_test, external_id, customer_id)
      values (${integrationId}, false, 'shop-9', ${customerId})`);
    await world.db.query(sql`
      insert into orders (integration_id, id, organization_id, channel_order_id, status, is_test, document, created_at, updated_at)
      values (${integrationId}, ${orderId}, ${staff.organizationId}, '#1001', 'received', false, '{}', now(), now())`);
    for (const text of [orderId, '#1001', ' #1001 ']) assert.deepEqual(await find(text), [['order', orderId]], text);
    for (const text of [customerId, 'ann@BUYER.example', 'shop-9']) {
      assert.deepEqual(await find(text), [['customer', customerId]], text);
    }
    for (const text of [orderId, '#1001', customerId, 'ann@buyer.example', 'shop-9']) {
      assert.deepEqual(await find(text, stranger), [], `${text} as a stranger`);
    }
  });

  it('finds customers by words of their name, whoever is meant exactly first', async () => {
    const people = [
      { id: newId('customer'), firstName: 'Sofia', lastName: 'Rossi', email: 'sofia@buyer.example' },
      { id: newId('customer'), firstName: 'Rossi', lastName: 'Berger', email: 'rossi@buyer.example' },
    ];
    for (const { id, firstName, lastName, email } of people) {
      await world.db.query(sql`
        insert into customers (id, organization_id, is_test, email, email_key, first_name, last_name, created_at, updated_at)
        values (${id}, ${staff.organizationId}, false, ${email}, ${email}, ${firstName}, ${lastName}, now(), now())`);
    }
    const [sofia, berger] = people.map(({ id }) => ['customer', id]);
    assert.deepEqual(await find('sofia rossi'), [sofia]);
    assert.deepEqual((await find('rossi')).sort(), [sofia, berger].sort());
    assert.deepEqual(await find('rossi', stranger), []);
    assert.deepEqual(await find('rossi@buyer.example'), [berger, sofia]);
  });

  it('finds a customer by an email in any spelling that is the same email: case, ß, final sigma, composed letters', async () => {
    const customerId = newId('customer');
    const email = 'straße.νίκος.müller@buyer.example';
    await world.db.query(sql`
      insert into customers (id, organization_id, is_test, email, email_key, created_at, updated_at)
      values (${customerId}, ${staff.organizationId}, false, ${email}, ${emailKey(email)}, now(), now())`);
    for (const text of [email, email.toUpperCase(), email.normalize('NFD')]) {
      assert.deepEqual(await find(text), [['customer', customerId]], text);
    }
  });

  it('finds events, deliveries and integrations by their ids, and nothing of another dealer', async () => {
    const itemId = await create(watch());
    await setPublished(world.channel, COMMAND_LINE, staff.organizationId, integrationId, [itemId], true);
    const [event] = await world.db.query<{ id: string }>(sql`
      select id from events where integration_id = ${integrationId} limit 1`);
    const eventId = event?.id ?? '';
    assert.deepEqual(await find(eventId), [['event', eventId]]);
    assert.deepEqual(await find(integrationId), [['integration', integrationId]]);
    const [delivery] = await world.db.query<{ id: string }>(sql`
      select id from deliveries where integration_id = ${integrationId} limit 1`);
    if (delivery !== undefined) assert.deepEqual(await find(delivery.id), [['delivery', delivery.id]]);
    for (const text of [itemId, eventId, integrationId, delivery?.id ?? eventId]) {
      assert.deepEqual(await find(text, stranger), [], `${text} as a stranger`);
    }
  });

  it('answers what means nothing with nothing', async () => {
    for (const text of ['%', "'", '---', 'dlv_x', 'ord_', '\ud800', 'x'.repeat(200)]) {
      const answer = await staff.call('GET', `/search?q=${encodeURIComponent(text.toWellFormed())}`);
      assert.equal(answer.status, 200, JSON.stringify(text));
    }
    for (const text of ['', '%00', 'ab%00'])
      assert.equal((await staff.call('GET', `/search?q=${text}`)).status, 400, text);
    assert.equal((await staff.call('GET', `/search?q=${'x'.repeat(201)}`)).status, 400);
  });
});
