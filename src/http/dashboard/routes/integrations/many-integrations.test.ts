import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { countRoundTrips } from '../../../../../test/harness/database/round-trips.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { addShop } from '../../../../../test/harness/shop.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { type Actor, COMMAND_LINE } from '../../../../audit/actor.ts';
import { INTEGRATIONS_LIMIT } from '../../../../contract/dashboard/limits.ts';
import { sql } from '../../../../db/sql.ts';
import { setEnabled } from '../../../../dealers/integrations/integrations.ts';
import { setWebhooksEnabled } from '../../../../webhooks/endpoints/endpoint-settings.ts';

const MANY = 20;
const CALLS = [
  { method: 'GET', path: '/integrations', status: 200 },
  { method: 'GET', path: '/deliveries/choices', status: 200 },
  { method: 'POST', path: '/replays/rpl_01h455vb4pex5vsknk084sn02q/cancel', status: 404 },
];
const DELIVERY_WORKER: Actor = { kind: 'job', name: 'deliveries' };

type Dealer = Awaited<ReturnType<typeof signedIn>>;

describe('a dealer with many integrations', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function read(dealer: Dealer, path: string) {
    const answer = await dealer.call('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async function addSwitchedOff(dealer: Dealer, count: number): Promise<void> {
    const actor: Actor = { kind: 'person', userId: dealer.userId, role: 'owner', address: '127.0.0.1' };
    for (let index = 0; index < count; index++) {
      const { integrationId } = await addShop(world, dealer);
      await setWebhooksEnabled(world.db, actor, integrationId, false);
    }
  }

  async function statementsOf(dealer: Dealer, { method, path, status }: (typeof CALLS)[number]): Promise<number> {
    const trips = countRoundTrips(world.db);
    try {
      const answer = await dealer.call(method, path);
      assert.equal(answer.status, status, answer.text);
    } finally {
      trips.stop();
    }
    // Open pages are notified a moment after a change, which may be now.
    return trips
      .all()
      .flat()
      .filter((text) => !text.includes('pg_notify')).length;
  }

  it('sees an item on each of them, and as JSON until that takes a megabyte', async () => {
    const dealer = await signedIn(world);
    for (let index = 1; index < MANY; index++) await addShop(world, dealer);
    const fit = { brand: 'B'.repeat(400), model: 'M'.repeat(400), reference_number: null, caliber: null };
    const answer = await dealer.call('POST', '/items/preview', {
      kind: 'part',
      preview_of_id: null,
      stock_number: 'P-1',
      title: 'Crown',
      description: '',
      price_amount: 100,
      tax_treatment: null,
      location_id: null,
      units: 1,
      attributes: {
        part_number: null,
        category: 'crown',
        brand: null,
        condition: 'good',
        compatibility: Array(200).fill(fit),
      },
    });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    const { channels } = answer.body;
    assert.deepEqual([channels.length, channels.at(-1).price.price], [MANY, 100]);
    // Each is a little longer than 160,000 bytes.
    const shown = channels.filter(({ document }: { document: unknown }) => document !== null);
    assert.equal(shown.length, 7);
    assert.equal(shown[0].document.compatibility.length, 200);
  });

  for (const call of CALLS) {
    it(`is answered ${call.method} ${call.path} with as many statements as a dealer with one`, async () => {
      const dealer = await signedIn(world);
      await addSwitchedOff(dealer, 1);
      const ofOne = await statementsOf(dealer, call);
      await addSwitchedOff(dealer, MANY - 1);
      assert.equal(await statementsOf(dealer, call), ofOne);
    });
  }

  it('sees all of them, also those that an operator adds to what people may create', async () => {
    const dealer = await signedIn(world);
    const added: string[] = [];
    for (let index = 0; index <= INTEGRATIONS_LIMIT; index++) added.push((await addShop(world, dealer)).integrationId);
    const { data } = await read(dealer, '/integrations');
    const ids: string[] = data.map(({ id }: { id: string }) => id);
    assert.deepEqual(ids.slice(-added.length), added);
    for (const id of [ids[0], ids.at(-1)]) {
      const { data: found } = await read(dealer, `/search?q=${id}`);
      assert.deepEqual(
        found.map((one: { id: string }) => one.id),
        [id],
      );
    }
  });

  it('sees of each who switched it off and when, and how many deliveries are held', async () => {
    const owner = await signedIn(world);
    const leaving = await signedIn(world, { organizationId: owner.organizationId });
    const off = { is_enabled: false };
    const add = async () => (await addShop(world, owner)).integrationId;
    const [on, byOwner, byLeaver, byCommand, byJob, forgotten] = [
      await add(),
      await add(),
      await add(),
      await add(),
      await add(),
      await add(),
    ];
    for (const isEnabled of [false, true, false]) {
      await leaving.call('PUT', `/integrations/${byOwner}/webhook/enabled`, { is_enabled: isEnabled });
    }
    await owner.call('PUT', `/integrations/${byOwner}/webhook/enabled`, { is_enabled: true });
    await owner.call('PUT', `/integrations/${byOwner}/webhook/enabled`, off);
    await leaving.call('PUT', `/integrations/${byLeaver}/webhook/enabled`, off);
    assert.equal((await owner.call('DELETE', `/team/${leaving.userId}`)).status, 204);
    await setEnabled(world.db, COMMAND_LINE, byCommand, false);
    await setWebhooksEnabled(world.db, DELIVERY_WORKER, byJob, false);
    await setWebhooksEnabled(world.db, COMMAND_LINE, forgotten, false);
    await world.db.query(sql`delete from audit_log where object_id = ${forgotten}`);
    await holdDeliveries(byOwner, 3, '1');
    await holdDeliveries(byJob, 1_002, '2');

    const { data } = await read(owner, '/integrations');
    const { integrations } = await read(owner, '/deliveries/choices');
    const [person] = await world.db.query<{ name: string }>(sql`select name from users where id = ${owner.userId}`);
    const rows = [
      [on, undefined, ['no_url'], [0, false]],
      [byOwner, person?.name, ['no_url', 'webhooks_off'], [3, false]],
      [byLeaver, 'somebody who left', ['no_url', 'webhooks_off'], [0, false]],
      [byCommand, 'Command line', ['no_url', 'integration_disabled'], [0, false]],
      [byJob, null, ['no_url', 'webhooks_off'], [1_000, true]],
      [forgotten, undefined, ['no_url', 'webhooks_off'], [0, false]],
    ] as const;
    for (const [id, by, reasons, held] of rows) {
      const { webhook } = data.find((one: { id: string }) => one.id === id);
      const choice = integrations.find((one: { integration_id: string }) => one.integration_id === id);
      assert.deepEqual([webhook.stop_reasons, webhook.switched_off?.by], [reasons, by]);
      assert.deepEqual([choice.stop_reasons, choice.switched_off], [reasons, webhook.switched_off]);
      assert.deepEqual([choice.held.value, choice.held.is_capped], held);
      const [last] = await world.db.query<{ at: Date }>(sql`
        select max(at) as at from audit_log where object_id = ${id} and action like '%.enabled_changed'`);
      assert.equal(webhook.switched_off?.at, by === undefined ? undefined : last?.at.toISOString());
    }
  });

  async function holdDeliveries(integrationId: string, count: number, digit: string): Promise<void> {
    await world.db.query(sql`
      with made as (select ${digit}::text || lpad(n::text, 8, '0') as n from generate_series(1, ${count}::integer) as n),
        recorded as (
          insert into events (integration_id, id, type, created_at, body, has_delivery)
          select ${integrationId}, 'evt_01h455vb4pex5vskn' || n, 'listing.updated', now(), '{}', true from made)
      insert into deliveries (integration_id, id, event_id, status, created_at)
      select ${integrationId}, 'dlv_01h455vb4pex5vskn' || n, 'evt_01h455vb4pex5vskn' || n, 'held', now() from made`);
  }
});
