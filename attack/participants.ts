import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import sharp from 'sharp';
import { makeShop, openBackDoor } from '../bench/shop.ts';
import { COMMAND_LINE } from '../src/audit/actor.ts';
import { type Config, readConfig } from '../src/config.ts';
import { ORDER_LINES_LIMIT, RATE_LIMIT_DEFAULT } from '../src/contract/limits.ts';
import { sql } from '../src/db/sql.ts';
import { createIntegration, setRateLimit } from '../src/dealers/integrations/integrations.ts';
import { createBusinessUnit, createLocation } from '../src/inventory/locations.ts';
import { addPhoto } from '../src/inventory/photos/photos.ts';
import { openPhotoFiles } from '../src/service/photo-storage.ts';
import { setUrl } from '../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption } from '../src/webhooks/endpoints/secret-encryption.ts';
import { createSsrfGuard } from '../src/webhooks/sending/ssrf-guard.ts';
import { fillEvents, fillOrders, fillRequests, fillStock } from '../test/harness/database/many-rows.ts';
import { SELF_SIGNED } from '../test/harness/servers/self-signed.ts';
import { type Attack, type AttackerAccount, idempotent, madeOnce } from './attacks/attack.ts';
import { largeOrder } from './attacks/writes.ts';
import type { NeighbourAccount } from './neighbour.ts';
import type { AttackOptions } from './run.ts';
import type { AttackedService } from './service.ts';
import { signInStaff } from './staff.ts';

/** Whom the attacks meet: a neighbour with a stock, and for each attack an attacker with a key of its own. */
export type Participants = {
  neighbour: NeighbourAccount;
  /** A new attacker who has what the attack needs. */
  attacker(needs: Attack['needs']): Promise<AttackerAccount>;
  close(): Promise<void>;
};

const LISTINGS = 200;
const EVENTS = 800_000;
const EVENTS_BATCH = 20_000;
const LARGE_ORDERS = 260;
/** As many as are cancelled at once. */
const CANCELLED_ORDERS = 50;
const MANY_UNITS = 1_000_000;
const PHOTOS = 24;
const PHOTO_SIDE_PX = 3_500;
/** What the lists of the dashboard are searched over. */
const STOCK = 20_000;
const ORDERS = 20_000;
const LOGGED = 50_000;
const SESSIONS = 40;
const INTEGRATIONS = 60;
const LOCATIONS = 1_000;
const LONG_NAME = 'İé'.repeat(240);
/** Of a file that is made to take long, every so many of its lines, and what those have in one cell. */
const LINES = 4_000;
const LONG_EVERY = 200;
const LIST_PARTS = 40_000;
/** Less than is read of an answer, so that all of them could be. */
const TINY_RECORDS = 16_000;
/** A legal answer, as far as a parser is concerned that counts the bytes of names and values. */
const MANY_HEADERS = `HTTP/1.1 103 Early Hints\r\n${'a:\r\n'.repeat(16_000)}\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`;

export async function openParticipants(
  service: AttackedService,
  { scale, roundsLimit }: Pick<AttackOptions, 'scale' | 'roundsLimit'>,
): Promise<Participants> {
  const { link, context } = await openBackDoor(service);
  const config = readConfig(service.env);
  const photoFiles = await openPhotoFiles(config);
  const receivers: Server[] = [];
  const times = (count: number) => Math.max(2, Math.round(count * scale));

  async function addEvents(integrationId: string): Promise<void> {
    for (let start = 0; start < times(EVENTS); start += EVENTS_BATCH) {
      await context.db.query(sql`
        insert into events (integration_id, id, type, created_at, body)
        select ${integrationId}, 'evt_' || lpad(n::text, 26, '0'),
          case when n % 1000 = 0 then 'order.cancelled' else 'listing.updated' end,
          now() - interval '20 days' + n * interval '1 second', '{"id":"evt"}'
        from generate_series(${start + 1}::int, ${Math.min(start + EVENTS_BATCH, times(EVENTS))}::int) n`);
    }
    await context.db.query(sql`analyze events`);
  }

  async function write(key: string, path: string, body: string): Promise<{ id: string }> {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...idempotent() },
      body,
    });
    if (!response.ok) throw new Error(`a write to ${path} was answered ${response.status}`);
    return (await response.json()) as { id: string };
  }

  async function addLargeOrders(key: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push((await write(key, 'orders', largeOrder(`large-${index}`))).id);
    }
    return ids;
  }

  async function addCancelledOrders(key: string): Promise<string[]> {
    const ids = await addLargeOrders(key, times(CANCELLED_ORDERS));
    for (const id of ids) await write(key, `orders/${id}/cancel`, '{}');
    return ids;
  }

  async function addIntegrations(organizationId: string): Promise<string[]> {
    const keys: string[] = [];
    for (let index = 0; index < times(INTEGRATIONS); index++) {
      const { id, apiKey } = await createIntegration(context.db, COMMAND_LINE, {
        organizationId,
        userId: null,
        name: `Attack ${index}`,
        currency: 'USD',
        isTestMode: false,
      });
      await setRateLimit(context.db, COMMAND_LINE, id, RATE_LIMIT_DEFAULT * roundsLimit);
      keys.push(apiKey);
    }
    return keys;
  }

  async function makePhoto(): Promise<Buffer> {
    const side = Math.round(PHOTO_SIDE_PX * Math.sqrt(scale));
    return await sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
      .jpeg({ quality: 80 })
      .toBuffer();
  }

  async function addPhotos(organizationId: string, itemId: string): Promise<string[]> {
    const jpeg = await makePhoto();
    const names: string[] = [];
    for (let index = 0; index < times(PHOTOS); index++) {
      names.push(`${await addPhoto({ ...context, photoFiles }, COMMAND_LINE, organizationId, itemId, jpeg)}.jpg`);
    }
    return names;
  }

  /** Receives the webhooks of an integration, and answers each with these bytes. */
  async function receive(integrationId: string, answer: string): Promise<void> {
    const receiver = createServer((socket) => {
      socket.on('error', () => {}).on('data', () => void (answer !== '' && socket.write(answer)));
    });
    await connectReceiver(integrationId, receiver, 'http');
  }

  /** Answers in records that are as small as they can be. The attacked service trusts its certificate. */
  async function receiveInTinyRecords(integrationId: string): Promise<void> {
    const receiver = createTlsServer(SELF_SIGNED, (socket) => {
      socket.setNoDelay().on('error', () => {});
      socket.on('data', () => {
        for (const byte of `HTTP/1.1 200 OK\r\nContent-Length: ${TINY_RECORDS}\r\n\r\n${'x'.repeat(TINY_RECORDS)}`) {
          socket.write(byte);
        }
      });
    });
    await connectReceiver(integrationId, receiver, 'https');
  }

  async function connectReceiver(integrationId: string, receiver: Server, scheme: 'http' | 'https'): Promise<void> {
    receivers.push(receiver);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const url = `${scheme}://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    await setUrl(context.db, COMMAND_LINE, doorsOf(config), integrationId, url);
  }

  async function addLocations(organizationId: string): Promise<void> {
    const unitId = await createBusinessUnit(context.db, COMMAND_LINE, organizationId, 'Attack');
    for (let index = 0; index < times(LOCATIONS); index++) {
      await createLocation(context.db, COMMAND_LINE, organizationId, unitId, `${LONG_NAME}${index}`);
    }
  }

  /** Lists are only read, so all attacks on them share one dealer. */
  const largeDealer = madeOnce(async () => {
    const shop = await makeShop(context, 1);
    await fillStock(context.db, shop, times(STOCK));
    await fillOrders(context.db, shop, times(ORDERS));
    await fillEvents(context.db, shop, times(LOGGED));
    await fillRequests(context.db, shop, times(LOGGED));
    return shop;
  });

  const neighbour = await makeShop(context, LISTINGS);
  return {
    neighbour: { key: neighbour.apiKey, staff: await signInStaff(context.db, service.port, neighbour) },
    async attacker(needs) {
      const shop = await (needs === 'large stock' ? largeDealer() : makeShop(context, times(LISTINGS)));
      const { apiKey, integrationId, organizationId, listingIds } = shop;
      if (needs === 'events') await addEvents(integrationId);
      if (needs === 'many units') {
        await context.db.query(sql`update items set units = ${MANY_UNITS} where organization_id = ${organizationId}`);
      }
      if (needs === 'large orders') await addLargeOrders(apiKey, times(LARGE_ORDERS));
      const orderIds = needs === 'large cancelled orders' ? await addCancelledOrders(apiKey) : [];
      if (needs === 'hanging receiver' || needs === 'staff with a hanging receiver') await receive(integrationId, '');
      if (needs === 'receiver with many headers') await receive(integrationId, MANY_HEADERS);
      if (needs === 'receiver with tiny TLS records') await receiveInTinyRecords(integrationId);
      if (needs === 'staff with many locations') await addLocations(organizationId);
      const photos = needs === 'photos' ? await addPhotos(organizationId, listingIds[0] ?? '') : [];
      // A round stays within the limit of one key. The next round stands for the next client, with the same data.
      await setRateLimit(context.db, COMMAND_LINE, integrationId, RATE_LIMIT_DEFAULT * roundsLimit);
      const isStaff = needs === 'large stock' || (needs?.startsWith('staff') ?? false);
      const photo = needs === 'staff photos' ? (await makePhoto()).toString('base64') : '';
      const sessions = needs === 'staff with many sessions' ? times(SESSIONS) : 1;
      const table = needs === 'staff with many locations' ? { table: slowTable(times(LINES)) } : {};
      const staff = isStaff ? await signInStaff(context.db, service.port, shop, { photo, sessions, ...table }) : null;
      const keys = [apiKey, ...(needs === 'many integrations' ? await addIntegrations(organizationId) : [])];
      return { key: apiKey, keys, photos, listingIds: listingIds.slice(0, ORDER_LINES_LIMIT), orderIds, staff };
    },
    async close() {
      for (const receiver of receivers) receiver.close();
      await link.close();
    },
  };
}

/** Names a location that nobody has in each line, and has long lists. */
function slowTable(lines: number): string {
  const list = 'gmt|'.repeat(LIST_PARTS);
  const rows = Array.from(
    { length: lines },
    (_, index) => `L-${index},nowhere ${index},${index % LONG_EVERY === 0 ? list : 'gmt'}`,
  );
  return `stock_number,location,complications\n${rows.join('\n')}\n`;
}

function doorsOf(config: Config) {
  return {
    guard: createSsrfGuard(config.isPrivateWebhookAllowed),
    encryption: createSecretEncryption(config.secretKeys),
  };
}
