import { presentAsIs } from '../../contract/versions.ts';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { openOutbox } from '../../webhooks/outbox.ts';
import { advanceClocks, nextStamp } from '../clock.ts';
import type { ChannelContext } from '../context.ts';
import { nextBoundary, runningPromotion, stampTail } from './documents.ts';
import { presentFor } from './plan-projection.ts';
import { pricesOf } from './pricing.ts';
import { projectItems, rendererKey } from './project-items.ts';
import {
  BEFORE_PRICES,
  BEHIND_PRICES,
  type ChannelSettings,
  type PricedRow,
  promotionsOf,
  readChannelSettings,
  readPricedRows,
} from './sources.ts';
import { type EventDraft, type Projected, transition } from './transitions.ts';

/**
 * A mass change of prices alone. A new markup, rounding, currency or exchange rate changes two fields of a document, `price`
 * and `promotion`. So the server replaces these in the text that it has: nothing else of an item is read, rendered or sent. That
 * is half of the time, and so half of the time that the clock is locked.
 *
 * It writes the very bytes that rendering would. Whatever it can't be sure of is projected as ever: an item without a document,
 * a document of another renderer or version, one that is valid until another time than before.
 */
type Repricing = {
  integrationId: string;
  itemIds: string[];
  /** The clock, which the caller has locked. */
  clocks: Map<string, Date>;
  /** What the caller has read already by `readPriced`, behind that lock. */
  priced?: Priced;
};

export type Priced = { settings: ChannelSettings[]; now: Date; rows: PricedRow[] };

/** Answers with the stamps, as `projectItems` does. */
export async function repriceItems(
  tx: Transaction,
  context: ChannelContext,
  repricing: Repricing,
): Promise<Map<string, Date>> {
  const { integrationId, itemIds, clocks } = repricing;
  const { settings, now, rows } = repricing.priced ?? (await readPriced(tx, context, integrationId, itemIds));
  const [channel] = settings;
  const clock = clocks.get(integrationId);
  if (channel === undefined || clock === undefined) return new Map();

  const changes = canReprice(context, channel) ? rows.flatMap((row) => changeOf(row, channel, now) ?? []) : [];
  const known = new Set(changes.map(({ row }) => row.itemId));
  const others = itemIds.filter((id) => !known.has(id));
  const ofOthers = { itemIds: others, integrationIds: [integrationId], clocks };
  const stamps = others.length === 0 ? new Map<string, Date>() : (await projectItems(tx, context, ofOthers)).stamps;
  const changed = changes.filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return stamps;

  const stamp = stamps.get(integrationId) ?? nextStamp(clock, now);
  writePrices(tx, channel, changed, stamp);
  const outbox = openOutbox();
  for (const { row, events } of changed) {
    for (const { type, extra, previous } of events) {
      const object = { id: row.itemId, object: row.kind, ...extra };
      outbox.add(channel.endpoint, { type, object, previous, createdAt: stamp, isSuppressed: false });
    }
  }
  if (!stamps.has(integrationId)) advanceClocks(tx, new Map([[integrationId, stamp]]));
  outbox.write(tx);
  return new Map([[integrationId, stamp]]);
}

/** If it is called right after `lockClocks`, both go in one round trip. */
export async function readPriced(
  tx: Transaction,
  context: ChannelContext,
  integrationId: string,
  itemIds: string[],
): Promise<Priced> {
  const [{ settings, now }, rows] = await Promise.all([
    readChannelSettings(tx, [integrationId], context.publicUrl),
    readPricedRows(tx, { integrationId, itemIds, renderer: rendererKey(context) }),
  ]);
  return { settings, now: context.now() ?? now ?? new Date(), rows };
}

/** Another version may show prices in another way, and a roll has documents in two. */
function canReprice(context: ChannelContext, { endpoint, versions }: ChannelSettings): boolean {
  return versions.length === 1 && presentFor(context.versions, endpoint.apiVersion) === presentAsIs;
}

type PriceChange = {
  row: PricedRow;
  prices: string;
  isUnpriceable: boolean;
  isChanged: boolean;
  events: EventDraft[];
};

/** Null if the document says other things than its prices that may be out of date. */
function changeOf(row: PricedRow, { priceRule }: ChannelSettings, now: Date): PriceChange | null {
  const promotions = promotionsOf(row.promotions);
  const validUntilMs = nextBoundary(promotions, now.getTime());
  if (validUntilMs !== (row.validUntil?.getTime() ?? null)) return null;
  const { isUnpriceable, ...fields } = pricesOf(
    row.priceAmount,
    runningPromotion(promotions, now.getTime()),
    priceRule,
  );
  // A document of these two fields alone: what an event says of a change of prices is in no other.
  const body = JSON.stringify(fields);
  const { kind, status, quantity } = row;
  const before: Projected = {
    kind,
    status,
    quantity,
    body: `${BODY_HEAD}${row.prices}}`,
    isUnpriceable: row.isUnpriceable,
  };
  const after: Projected = { kind, status, quantity, body, isUnpriceable };
  const prices = body.slice(BODY_HEAD.length, -1);
  return { row, prices, isUnpriceable, ...transition(before, after, { isDeleted: false, isQuantityEdit: false }) };
}

const BODY_HEAD = '{"price":';

const COLUMNS = {
  itemId: 'text',
  oldPrices: 'text',
  newPrices: 'text',
  oldTail: 'text',
  isUnpriceable: 'boolean',
} as const;

/** The tail is replaced as well: counting characters from the end of a text takes the server 160 µs, this 3. */
function writePrices(
  tx: Transaction,
  { integrationId, endpoint }: ChannelSettings,
  changes: PriceChange[],
  stamp: Date,
): void {
  const rows = changes.map(({ row, prices, isUnpriceable }) => ({
    itemId: row.itemId,
    oldPrices: `${BEFORE_PRICES}${row.prices}${BEHIND_PRICES}`,
    newPrices: `${BEFORE_PRICES}${prices}${BEHIND_PRICES}`,
    oldTail: stampTail(row.stamp),
    isUnpriceable,
  }));
  tx.defer(sql`
    update channel_documents d set
      document = replace(replace(d.document, rows.old_prices, rows.new_prices), rows.old_tail, ${stampTail(stamp)}),
      is_unpriceable = rows.is_unpriceable, updated_at = ${stamp}
    from ${unnestRows('rows', rows, COLUMNS)}
    where d.integration_id = ${integrationId} and d.api_version = ${endpoint.apiVersion} and d.item_id = rows.item_id`);
}
