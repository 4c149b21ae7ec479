import { COMMAND_LINE } from '../src/audit/actor.ts';
import type { ChannelContext } from '../src/channel/context.ts';
import { readConfig } from '../src/config.ts';
import { VERSIONS } from '../src/contract/versions.ts';
import { sql } from '../src/db/sql.ts';
import { createIntegration, setRateLimit } from '../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../src/dealers/organizations.ts';
import { generateListings } from '../src/demo/generate.ts';
import { type Connection, connect } from '../src/service/connect.ts';

/** A dealer with one integration and many listings, made for measuring. */
export type Shop = { apiKey: string; listingIds: string[]; organizationId: string; integrationId: string };

const RATE_LIMIT = 10_000_000;
/** Ids that a load job carries; bounded so that the job fits a file. */
const ID_LIMIT = 10_000;

/** Joins the service's own embedded database. */
export async function openBackDoor(service: { port: number; env: Record<string, string> }): Promise<{
  link: Connection;
  context: ChannelContext;
}> {
  const link = await connect(readConfig(service.env), { isExclusive: false, onProgress: () => {}, onFault: () => {} });
  const context: ChannelContext = {
    db: link.db,
    now: () => null,
    publicUrl: `http://localhost:${service.port}`,
    versions: VERSIONS,
    onEvents: () => {},
    onPhotosRemoved: () => {},
  };
  return { link, context };
}

/** The address of the service's own embedded database, for further processes. */
export function databaseUrlOf({ embedded }: Connection): string {
  const address = embedded?.address;
  if (address === undefined || 'url' in address) throw new Error('the service brings its own database');
  const { socketDir, user, database } = address;
  return `postgresql:///${database}?host=${encodeURIComponent(socketDir)}&user=${user}`;
}

export async function makeShop(context: ChannelContext, count: number): Promise<Shop> {
  const organization = await createOrganization(context.db, COMMAND_LINE, { name: `Bench ${count}`, hasPlan: true });
  const { id: integrationId, apiKey } = await createIntegration(context.db, COMMAND_LINE, {
    organizationId: organization.id,
    userId: null,
    name: 'Bench',
    currency: 'USD',
    isTestMode: false,
  });
  await setRateLimit(context.db, COMMAND_LINE, integrationId, RATE_LIMIT);
  await generateListings(context, { organizationId: organization.id, integrationId, count });
  const rows = await context.db.query<{ item_id: string }>(sql`
    select item_id from channel_documents where integration_id = ${integrationId} order by random() limit ${ID_LIMIT}`);
  return { apiKey, listingIds: rows.map((row) => row.item_id), organizationId: organization.id, integrationId };
}

/** Of an even count, the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}
