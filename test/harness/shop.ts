import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from '../../src/db/sql.ts';
import { createIntegration, setRateLimit } from '../../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../../src/dealers/organizations.ts';
import { TESTER } from './actor.ts';
import type { ApiClient, ApiResponse } from './http/api-client.ts';
import type { World } from './world.ts';

/** A client's website on a dealer's channel, for tests that write: its rate limit is out of the way. */
export type Shop = {
  organizationId: string;
  integrationId: string;
  apiKey: string;
  api: ApiClient;
  /** POST with a fresh key. */
  post(path: string, body?: unknown): Promise<ApiResponse>;
};

export type ShopOptions = { isTestMode?: boolean; country?: string; currency?: string };

/** What a shop needs of the world: also processes of the service that a test has started give that. */
type ShopWorld = Pick<World, 'db' | 'client'>;

const RATE_LIMIT = 1_000_000;
let made = 0;

/** A dealer of its own, without anybody who could sign in: that takes the longest to make. */
export async function openShop(world: ShopWorld, options: ShopOptions = {}): Promise<Shop> {
  made += 1;
  const { id } = await createOrganization(world.db, TESTER, { name: `Dealer of shop ${made}`, hasPlan: true });
  if (options.country !== undefined) {
    await world.db.query(sql`update organizations set country = ${options.country} where id = ${id}`);
  }
  return await addShop(world, { organizationId: id }, options);
}

/** Another website of the same dealer. */
export async function addShop(
  world: ShopWorld,
  { organizationId }: { organizationId: string },
  options: ShopOptions = {},
): Promise<Shop> {
  made += 1;
  const { id, apiKey } = await createIntegration(world.db, TESTER, {
    organizationId,
    userId: null,
    name: `Shop ${made}`,
    currency: options.currency ?? 'USD',
    isForced: true,
    isTestMode: options.isTestMode ?? false,
  });
  await setRateLimit(world.db, TESTER, id, RATE_LIMIT);
  const api = world.client(apiKey);
  return {
    organizationId,
    integrationId: id,
    apiKey,
    api,
    post: (path, body) => api.post(path, body, freshKey()),
  };
}

/** A new customer of the dealer, as the website reports it; returns its id. */
export async function addCustomer(shop: Pick<Shop, 'post'>, fields: object): Promise<string> {
  const { status, body } = await shop.post('/v1/customers', fields);
  assert.equal(status, 201);
  return body.id;
}

let ordersReported = 0;

/** An order as the website reports it, with an id of its own; returns it as it was answered. */
export async function reportOrder(shop: Pick<Shop, 'post'>, lines: object[] = []): Promise<ApiResponse['body']> {
  ordersReported += 1;
  const { status, body } = await shop.post('/v1/orders', { channel_order_id: `SO-${ordersReported}`, lines });
  assert.equal(status, 201);
  return body;
}

export async function readOrder(shop: Pick<Shop, 'api'>, orderId: string): Promise<ApiResponse['body']> {
  return (await shop.api.get(`/v1/orders/${orderId}`)).body;
}

export function freshKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': randomUUID() };
}

/** Asserting on an error is asserting on these; the wording may change. */
export function faultOf({ status, body }: ApiResponse): { status: number; code: string; param?: string } {
  const { code, param } = body?.error ?? {};
  return param === undefined ? { status, code } : { status, code, param };
}
