import { commitAndWake } from '../channel/commit-and-wake.ts';
import type { ChannelContext } from '../channel/context.ts';
import { projectItems } from '../channel/projection/project-items.ts';
import type { Transaction } from '../db/database.ts';
import { rawSql, sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { newId } from '../ids/new-id.ts';
import { summarizeItems } from '../inventory/lists/stock-summary.ts';
import { DEMO_WATCHES } from './catalogue/watches.ts';

export type GenerateRequest = {
  organizationId: string;
  integrationId: string;
  count: number;
  /** Rows only, as a document shows them: there is no file behind them. */
  photosEach?: number;
  onProgress?: (done: number) => void;
};

/** Each batch is one transaction, which holds the channel's clock while it projects. */
const BATCH_LIMIT = 250;
/** While one lane projects, the other inserts; the clock lets only one project at a time. */
const LANES = 2;
const PHOTOS_EACH = 2;
/** Not the long texts: nothing is ever looked for in them, and sampling them takes seconds. */
const ANALYZE = `
  analyze items (id, organization_id), photos (id, item_id), publications, events (integration_id, id, created_at),
    channel_documents (integration_id, api_version, kind, status, updated_at, item_id, valid_until)`;
const PHOTO_SIDE_PX = 1_200;

type Row = {
  id: string;
  stockNumber: string;
  title: string;
  description: string;
  price: number;
  units: number;
  attributes: string;
};

/**
 * Makes listings in bulk and publishes them, to measure with. Only the stock is inserted in another way than usual; the
 * documents, stamps and events come from the same projection as all others.
 */
export async function generateListings(context: ChannelContext, request: GenerateRequest): Promise<void> {
  // Distinguishes several runs in one organization: stock numbers must differ.
  const run = Date.now().toString(36);
  const photosEach = request.photosEach ?? PHOTOS_EACH;
  let taken = 0;
  let done = 0;
  async function work(): Promise<void> {
    while (taken < request.count) {
      const start = taken;
      taken = Math.min(request.count, start + BATCH_LIMIT);
      const rows = Array.from({ length: taken - start }, (_, index) => rowOf(start + index, run));
      await generateBatch(context, request, rows, photosEach);
      done += rows.length;
      request.onProgress?.(done);
    }
  }
  await Promise.all(Array.from({ length: LANES }, work));
  // What is measured next must not depend on when PostgreSQL gets round to it.
  await context.db.query(rawSql(ANALYZE));
}

async function generateBatch(
  context: ChannelContext,
  request: GenerateRequest,
  rows: Row[],
  photosEach: number,
): Promise<void> {
  await commitAndWake(context, async (tx) => {
    // Should the machine fail in this very second, the listings of it are made again.
    await tx.query(sql`set local synchronous_commit = off`);
    await insertStock(tx, request, rows, photosEach);
    const { stamps } = await projectItems(tx, context, {
      itemIds: rows.map((row) => row.id),
      integrationIds: [request.integrationId],
    });
    return { touched: [...stamps.keys()] };
  });
}

/** The watches of the demo, again and again, each time with another price and year. */
function rowOf(index: number, run: string): Row {
  const { title, description, price, attributes } = DEMO_WATCHES[
    index % DEMO_WATCHES.length
  ] as (typeof DEMO_WATCHES)[0];
  const round = Math.floor(index / DEMO_WATCHES.length);
  return {
    id: newId('listing'),
    stockNumber: `G-${run}-${String(index + 1).padStart(7, '0')}`,
    title,
    description,
    price: Math.round(price * (80 + (round % 41))),
    units: 1 + (round % 3),
    attributes: JSON.stringify({ ...attributes, year: 1990 + ((index * 7) % 35) }),
  };
}

const ITEM_COLUMNS = {
  id: 'text',
  stockNumber: 'text',
  title: 'text',
  description: 'text',
  price: 'bigint',
  units: 'integer',
  attributes: 'text',
} as const;

async function insertStock(tx: Transaction, request: GenerateRequest, rows: Row[], photosEach: number): Promise<void> {
  const { organizationId, integrationId } = request;
  await tx.query(sql`
    insert into items (id, organization_id, kind, stock_number, title, description, price_amount, units, attributes, created_at)
    select id, ${organizationId}, 'listing', stock_number, title, description, price, units, attributes::jsonb, now()
    from ${unnestRows('rows', rows, ITEM_COLUMNS)}`);
  const photos = rows.flatMap((row) =>
    Array.from({ length: photosEach }, (_, index) => ({ id: newId('photo'), itemId: row.id, position: index + 1 })),
  );
  await tx.query(sql`
    insert into photos (id, item_id, organization_id, position, width, height, format)
    select id, item_id, ${organizationId}, position, ${PHOTO_SIDE_PX}, ${PHOTO_SIDE_PX}, 'jpeg'
    from ${unnestRows('rows', photos, { id: 'text', itemId: 'text', position: 'integer' })}`);
  await tx.query(sql`
    insert into publications (integration_id, item_id, is_on, published_at)
    select ${integrationId}, id, true, now() from unnest(${rows.map((row) => row.id)}::text[]) as id`);
  await summarizeItems(
    tx,
    rows.map((row) => row.id),
  );
}
