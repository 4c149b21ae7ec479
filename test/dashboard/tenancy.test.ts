import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import type { DashboardOperation } from '../../src/contract/dashboard/operation.ts';
import { DASHBOARD_OPERATIONS } from '../../src/contract/dashboard/operations.ts';
import { CURRENT_VERSION } from '../../src/contract/versions.ts';
import { listChannels } from '../../src/dealers/integrations/integrations.ts';
import { inviteMember } from '../../src/dealers/users/invitations-and-resets.ts';
import { storeApiRequests } from '../../src/http/logging/api-requests.ts';
import { newId } from '../../src/ids/new-id.ts';
import { newRequestId } from '../../src/ids/request-id.ts';
import { storeImportFile } from '../../src/inventory/import/import-files.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { startJob } from '../../src/inventory/jobs/stock-job-queue.ts';
import { createBusinessUnit, createLocation } from '../../src/inventory/locations.ts';
import { startPromotion } from '../../src/inventory/promotions.ts';
import { draftOrder } from '../../src/sales/orders/order-draft.ts';
import { placeOrders } from '../../src/sales/orders/place-orders.ts';
import { sellUnits } from '../../src/sales/sell.ts';
import { startReplay } from '../../src/webhooks/delivery-queue/replay.ts';
import { openOutbox } from '../../src/webhooks/outbox.ts';
import { dashboardClient, signedIn } from '../harness/http/dashboard-client.ts';
import { watch } from '../harness/stock.ts';
import { startWorld, type World } from '../harness/world.ts';

/**
 * Walks every operation of the dashboard as nobody, from a wrong origin, as staff, and with the ids of another dealer. The
 * operations come from the table itself, so a new one is walked from its first day. If it names things in a way that this
 * walk does not know, the walk fails: teach it the parameter in FOREIGN_IDS, or the field in FOREIGN_FIELDS.
 */
type Person = Awaited<ReturnType<typeof signedIn>>;
/** How to get an id of another dealer's thing, by the name of the parameter in the path. */
const FOREIGN_IDS: Record<string, (stranger: Person) => Promise<string>> = {
  user_id: async (stranger) => stranger.userId,
  session_id: async (stranger) => (await stranger.call('GET', '/account/sessions')).body.data[0].id,
  invitation_id: async ({ organizationId }) =>
    (await inviteMember(world.db, COMMAND_LINE, { organizationId, email: 'invited@dealer.example', role: 'staff' })).id,
  integration_id: async ({ organizationId }) => (await listChannels(world.db, organizationId))[0]?.id ?? '',
  delivery_id: async (stranger) => (await eventOf(stranger)).deliveryId ?? '',
  event_id: async (stranger) => (await eventOf(stranger)).id,
  replay_id: async ({ organizationId }) => {
    const [channel] = await listChannels(world.db, organizationId);
    const filter = { since: null, until: null, types: null, statuses: ['succeeded' as const] };
    return (await startReplay(world.db, COMMAND_LINE, channel?.id ?? '', filter)).id;
  },
  item_id: async ({ organizationId }) => await createItem(world.channel, COMMAND_LINE, organizationId, watch()),
  promotion_id: async ({ organizationId }) => {
    const itemId = await createItem(world.channel, COMMAND_LINE, organizationId, watch());
    const input = { priceAmount: 1, startsAt: new Date(), endsAt: null };
    return await startPromotion(world.channel, COMMAND_LINE, organizationId, itemId, input);
  },
  sale_id: async ({ organizationId }) => {
    const itemId = await createItem(world.channel, COMMAND_LINE, organizationId, watch());
    return await sellUnits(world.channel, COMMAND_LINE, organizationId, itemId, 1);
  },
  order_id: async ({ organizationId }) => {
    const [channel] = await listChannels(world.db, organizationId);
    const scope = { organizationId, integrationId: channel?.id ?? '', isTest: false };
    const draft = draftOrder({ channel_order_id: newId('order') }, { currency: 'USD', country: null });
    const { documents } = await world.db.transaction((tx) => placeOrders(tx, world.channel, scope, [draft]));
    return JSON.parse(documents[0] ?? '{}').id;
  },
  request_id: async ({ organizationId }) => {
    const [channel] = await listChannels(world.db, organizationId);
    const requestId = newRequestId();
    const row = {
      integrationId: channel?.id ?? '',
      requestId,
      at: new Date(),
      method: 'GET',
      durationMs: 1,
      keyHint: '',
    };
    const nothing = { route: null, query: null, status: 200, code: null, idempotencyKey: null, objectId: null };
    await storeApiRequests(world.db, [{ ...row, ...nothing, ignoredFields: null, originalRequestId: null }]);
    return requestId;
  },
  line_id: async () => newId('orderLine'),
  customer_id: foreignCustomer,
  merged_id: foreignCustomer,
  photo_id: async () => newId('photo'),
  // Of no reservation at all: the item beside it is looked for first.
  reservation_id: async () => newId('reservation'),
  location_id: async ({ organizationId }) => {
    const unitId = await createBusinessUnit(world.db, COMMAND_LINE, organizationId, 'Unit');
    return await createLocation(world.db, COMMAND_LINE, organizationId, unitId, 'Location');
  },
  business_unit_id: async ({ organizationId }) =>
    await createBusinessUnit(world.db, COMMAND_LINE, organizationId, 'Unit'),
  job_id: async ({ organizationId }) =>
    await startJob(world.db, COMMAND_LINE, {
      organizationId,
      kind: 'undo',
      title: 'A job',
      parameters: {},
      isUndoable: false,
    }),
  view_id: async (stranger) => {
    const view = { list: 'watches', name: newId('view'), query: '', is_shared: true };
    return (await stranger.call('POST', '/views', view)).body.id;
  },
  file_id: async ({ organizationId }) => {
    const bytes = Buffer.from('stock_number\nW-1\n');
    return await storeImportFile(world.db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
  },
  audit_id: async (stranger) => (await stranger.call('GET', '/audit?limit=1')).body.data[0].id,
};
/** Of a buyer that the stranger's site has reported. */
async function foreignCustomer({ organizationId }: Person): Promise<string> {
  const [channel] = await listChannels(world.db, organizationId);
  const scope = { organizationId, integrationId: channel?.id ?? '', isTest: false };
  const customer = { email: `${newId('customer')}@example.com` };
  const draft = draftOrder({ channel_order_id: newId('order'), customer }, { currency: 'USD', country: null });
  const { documents } = await world.db.transaction((tx) => placeOrders(tx, world.channel, scope, [draft]));
  return JSON.parse(documents[0] ?? '{}').customer_id;
}
/** Fields of bodies and queries that hold ids, with the parameter above that makes a foreign one. */
const FOREIGN_FIELDS: Record<string, string> = {
  integration_id: 'integration_id',
  item_ids: 'item_id',
  location_id: 'location_id',
  object_id: 'item_id',
  photo_ids: 'photo_id',
  preview_of_id: 'item_id',
  item_id: 'item_id',
  line_id: 'line_id',
  customer_id: 'customer_id',
  delivery_ids: 'delivery_id',
};
/** Bodies that the sample below can't guess. */
const PROMOTION = { price_amount: 1, starts_at: null, ends_at: null };
const BODIES: Record<string, unknown> = {
  startItemPromotion: PROMOTION,
  changeCustomer: { updated_at: '2026-01-01T00:00:00.000Z' },
  changeItemPromotion: PROMOTION,
  changePresentation: { currency: 'USD', markup_basis_points: 0, rounding: 'none', image_format: 'original' },
};

/** An event of the dealer's, with its delivery. */
async function eventOf({ organizationId }: Person) {
  const [channel] = await listChannels(world.db, organizationId);
  const outbox = openOutbox();
  const endpoint = {
    integrationId: channel?.id ?? '',
    organizationId,
    apiVersion: CURRENT_VERSION,
    isTestMode: false,
    url: 'http://127.0.0.1:9/nobody',
    subscriptions: ['*'],
    isSending: false,
  };
  const object = { id: newId('listing'), object: 'listing' };
  const [type, previous, createdAt] = ['listing.published' as const, undefined, new Date()];
  const recorded = outbox.add(endpoint, { type, object, previous, createdAt, isSuppressed: false });
  await world.db.transaction(async (tx) => outbox.write(tx));
  return recorded;
}

let world: World;
let owner: Person;
let staff: Person;
let stranger: Person;
const operations: [id: string, operation: DashboardOperation][] = Object.entries(DASHBOARD_OPERATIONS);

before(async () => {
  world = await startWorld();
  owner = await signedIn(world);
  staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
  stranger = await signedIn(world);
});
after(() => world.stop());

const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
const withParameters = (path: string, value: (name: string) => string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => value(name));
const anywhere = (path: string) => withParameters(path, () => 'x');

describe('the operations of the dashboard', () => {
  it('are all known to this walk, with every parameter and field that holds an id', () => {
    for (const [id, operation] of operations) {
      for (const name of parametersOf(operation.path)) {
        assert.ok(name in FOREIGN_IDS, `${id} has the parameter ${name}: teach the walk how to get a foreign one`);
      }
      for (const schema of [operation.body, operation.query]) {
        for (const field of Object.keys((schema as { properties?: object } | null)?.properties ?? {})) {
          if (/_ids?$/.test(field)) assert.ok(field in FOREIGN_FIELDS, `${id} has the field ${field}: teach the walk`);
        }
      }
    }
  });

  it('answer 401 without a session, unless they are public', async () => {
    for (const [id, { method, path, access }] of operations) {
      if (access === 'public') continue;
      const answer = await dashboardClient(world).call(method, anywhere(path));
      assert.equal(answer.status, 401, id);
    }
  });

  it('answer 403 from a wrong origin when they change something', async () => {
    for (const [id, { method, path }] of operations) {
      if (method === 'GET') continue;
      for (const origin of ['https://evil.example', '']) {
        const answer = await owner.call(method, anywhere(path), undefined, { origin });
        assert.equal(answer.body.error.code, 'wrong_origin', id);
        assert.equal(answer.status, 403, id);
      }
    }
  });

  it('answer staff 403 with a sentence where only owners may', async () => {
    for (const [id, { method, path, access }] of operations) {
      if (access !== 'owner') continue;
      const answer = await staff.call(method, anywhere(path));
      assert.equal(answer.status, 403, id);
      assert.match(answer.body.error.message, /^Only owners .*\.$/, id);
    }
  });

  it('answer the id of another dealer exactly as one that never was: 404', async () => {
    for (const [id, operation] of operations) {
      if (parametersOf(operation.path).length === 0) continue;
      const foreign = new Map<string, string>();
      for (const name of parametersOf(operation.path)) foreign.set(name, (await FOREIGN_IDS[name]?.(stranger)) ?? '');
      const ask = (value: (name: string) => string) =>
        owner.call(operation.method, withParameters(operation.path, value), BODIES[id] ?? sampleOf(operation.body));
      const answer = await ask((name) => foreign.get(name) ?? '');
      assert.equal(answer.status, 404, `${id}: ${answer.text}`);
      // The same shape of id, of a thing that never was.
      const unknown = await ask((name) => (foreign.get(name) ?? '').replace(/.{4}$/, '0000'));
      // A refusal may repeat the id that it was asked for; nothing else may differ.
      const plain = ({ error }: { error: { message: string } }) => ({
        ...error,
        message: error.message.replaceAll(/\b[a-z]{3}_\w{26}\b/g, 'ID'),
        request_id: '',
      });
      assert.deepEqual(plain(answer.body), plain(unknown.body), id);
    }
  });
});

type Schema = {
  type?: string;
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  minLength?: number;
  minimum?: number;
  items?: Schema;
  minItems?: number;
  enum?: unknown[];
};

/** The smallest body that the schema takes. */
function sampleOf(given: unknown): unknown {
  if (given === null || given === undefined) return undefined;
  const schema = given as Schema;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sampleOf(schema.anyOf[0]);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name])]));
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items));
    case 'string':
      return 'x'.repeat(schema.minLength ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return schema.minimum ?? 1;
  }
}
