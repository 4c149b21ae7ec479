import type { ChannelContext } from '../channel/context.ts';
import { channelPrice } from '../channel/projection/pricing.ts';
import { readRate } from '../channel/projection/sources.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { unnestRows } from '../db/values/unnest-rows.ts';
import { changePresentation, findPresentation } from '../dealers/integrations/integration-settings.ts';
import { changeOrganization } from '../dealers/organization-settings.ts';
import { setRate } from '../dealers/rates/exchange-rates.ts';
import type { NewItem } from '../inventory/items/item-input.ts';
import { createItem, setHidden } from '../inventory/items/item-operations.ts';
import { summarizeItems } from '../inventory/lists/stock-summary.ts';
import { createBusinessUnit, createLocation } from '../inventory/locations.ts';
import { startPromotion } from '../inventory/promotions.ts';
import { setPublished } from '../inventory/publications.ts';
import { reserveUnits } from '../inventory/units/movements.ts';
import { sellUnits } from '../sales/sell.ts';
import { DEMO_PARTS } from './catalogue/parts.ts';
import { DEMO_WATCHES } from './catalogue/watches.ts';
import { DEMO } from './demo-actor.ts';
import { PAST_ORDERS, QUEUED_ORDERS, TEST_ORDERS } from './order-plan.ts';
import { reportDemoOrders } from './orders.ts';
import { closePastEndpoint, openPastEndpoint } from './past-webhooks.ts';
import {
  DRAWING_SIDE_PX,
  HIDDEN,
  LIVE_ONLY,
  NEVER_PUBLISHED,
  type PhotoPlan,
  type PlannedPhoto,
  PROMOTIONS,
  RESERVED,
  SOLD,
  TAKEN_OFF,
} from './plan.ts';

export type DemoDealer = { organizationId: string; liveId: string; testId: string };

export const ORGANIZATION_CURRENCY = 'CHF';
export const STAGING_CURRENCY = 'USD';
const MINOR_UNITS = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Stock came in deliveries, the first so long ago, and went online two days after each. */
const DELIVERIES = 8;
const FIRST_DELIVERY_DAYS_AGO = 240;
const DELIVERY_EVERY_DAYS = 30;

/**
 * Fills the demo dealer's shop, all in the caller's transaction and by the same operations that a dealer uses, so that
 * documents, stamps and events are what they would be.
 */
export async function stockDemo(
  outer: ChannelContext,
  tx: Transaction,
  dealer: DemoDealer,
  photos: PhotoPlan,
): Promise<void> {
  const context = joined(outer, tx);
  const { organizationId } = dealer;
  await turnClocksBack(tx, dealer);
  await presentDealer(context, dealer);
  const locations = await makeLocations(context, organizationId);
  const stock = await takeIn(context, organizationId, locations, photos);
  await insertPhotos(tx, organizationId, stock);
  await publish(context, dealer, stock);
  const shop = { tx, organizationId, stock, at: (daysAgo: number) => at(context, daysAgo) };
  const [liveRule, testRule] = [await priceRuleOf(tx, dealer.liveId), await priceRuleOf(tx, dealer.testId)];
  const website = {
    ...shop,
    integrationId: dealer.liveId,
    isTest: false,
    currency: ORGANIZATION_CURRENCY,
    ...liveRule,
  };
  const staging = { ...shop, integrationId: dealer.testId, isTest: true, currency: STAGING_CURRENCY, ...testRule };
  // In the order of time: a channel's clock never goes back.
  await openPastEndpoint(tx, dealer.liveId);
  await reportDemoOrders(website, PAST_ORDERS);
  await closePastEndpoint(tx, dealer.liveId);
  await sellOverTheCounter(context, dealer, stock);
  await reportDemoOrders(website, QUEUED_ORDERS);
  await reportDemoOrders(staging, TEST_ORDERS);
  await live(context, dealer, stock);
  // The settings were there before the first document: the jobs that would carry them into documents have no work.
  await tx.query(sql`
    delete from channel_jobs
    where integration_id = any(${[dealer.liveId, dealer.testId]}::text[]) and status = 'pending'`);
}

/** The arithmetic of a channel's prices, so that orders come with the prices that the site shows. */
async function priceRuleOf(tx: Transaction, integrationId: string) {
  const presentation = await findPresentation(tx, integrationId);
  if (presentation === null) throw new Error('the demo integration is gone');
  const { currency: to, markupBasisPoints, rounding } = presentation;
  const rate = await readRate(tx, ORGANIZATION_CURRENCY, to);
  const rule = { from: ORGANIZATION_CURRENCY, to, rate, markupBasisPoints, rounding };
  return { priceOf: (amount: number) => channelPrice(amount, rule) ?? amount };
}

/** The channels begin before the first delivery, so that what happened then is stamped with its own time. */
async function turnClocksBack(tx: Transaction, { liveId, testId }: DemoDealer): Promise<void> {
  await tx.query(sql`
    update channel_clocks set stamp = ${inDays(-FIRST_DELIVERY_DAYS_AGO - 1)}
    where integration_id = any(${[liveId, testId]}::text[])`);
}

/** The operations open a transaction each; here they all join the one that is open. */
function joined(context: ChannelContext, tx: Transaction): ChannelContext {
  return { ...context, db: { ...context.db, query: tx.query, transaction: (work) => work(tx) }, onEvents: () => {} };
}

/** The same at another time, as if it had happened then. */
function at(context: ChannelContext, daysAgo: number): ChannelContext {
  const time = new Date(Date.now() - daysAgo * DAY_MS);
  return { ...context, now: () => time };
}

async function presentDealer(context: ChannelContext, { organizationId, liveId, testId }: DemoDealer): Promise<void> {
  await setRate(context, DEMO, ORGANIZATION_CURRENCY, STAGING_CURRENCY, '1.2418');
  await changeOrganization(context, DEMO, organizationId, {
    currency: ORGANIZATION_CURRENCY,
    defaultTaxTreatment: 'margin_scheme',
    address: {
      line1: 'Rue du Rhône 62',
      line2: '2nd floor',
      city: 'Geneva',
      state: 'GE',
      postal_code: '1204',
      country: 'CH',
    },
  });
  await changePresentation(context, DEMO, organizationId, liveId, { markupBasisPoints: 250, rounding: 'to_10' });
  await changePresentation(context, DEMO, organizationId, testId, { imageFormat: 'webp' });
}

type Locations = { showroom: string; workshop: string; boutique: string; vault: string };

async function makeLocations({ db }: ChannelContext, organizationId: string): Promise<Locations> {
  const geneva = await createBusinessUnit(db, DEMO, organizationId, 'Geneva');
  const zurich = await createBusinessUnit(db, DEMO, organizationId, 'Zurich');
  return {
    showroom: await createLocation(db, DEMO, organizationId, geneva, 'Showroom Rue du Rhône'),
    workshop: await createLocation(db, DEMO, organizationId, geneva, 'Workshop'),
    boutique: await createLocation(db, DEMO, organizationId, zurich, 'Boutique Bahnhofstrasse'),
    vault: await createLocation(db, DEMO, organizationId, zurich, 'Vault'),
  };
}

type StockItem = {
  id: string;
  /** The maker's reference or the part's number. */
  reference: string;
  priceAmount: number;
  delivery: number;
  photos: PlannedPhoto[];
};

async function takeIn(
  context: ChannelContext,
  organizationId: string,
  locations: Locations,
  photos: PhotoPlan,
): Promise<StockItem[]> {
  const watches = DEMO_WATCHES.map((watch, index) => ({
    reference: watch.attributes.reference_number ?? '',
    photos: photos.watches[index] ?? [],
    item: {
      kind: 'listing',
      stockNumber: `W-${1001 + index}`,
      title: watch.title,
      description: watch.description,
      priceAmount: watch.price * MINOR_UNITS,
      units: watch.units,
      taxTreatment: watch.attributes.condition === 'unworn' ? 'vat_included' : null,
      locationId: watch.price > 40_000 ? locations.vault : index % 3 === 0 ? locations.boutique : locations.showroom,
      attributes: watch.attributes,
    } satisfies NewItem,
  }));
  const parts = DEMO_PARTS.map((part, index) => ({
    reference: part.attributes.part_number ?? '',
    photos: photos.parts[index] ?? [],
    item: {
      kind: 'part',
      stockNumber: `P-${2001 + index}`,
      title: part.title,
      description: part.description,
      priceAmount: part.price * MINOR_UNITS,
      units: part.units,
      taxTreatment: 'vat_included',
      locationId: locations.workshop,
      attributes: part.attributes,
    } satisfies NewItem,
  }));
  const stock: StockItem[] = [];
  for (const [index, { item, reference, photos }] of [...watches, ...parts].entries()) {
    const delivery = index % DELIVERIES;
    const id = await createItem(at(context, deliveredDaysAgo(delivery)), DEMO, organizationId, item);
    stock.push({ id, reference, priceAmount: item.priceAmount, delivery, photos });
  }
  return stock;
}

function deliveredDaysAgo(delivery: number): number {
  return FIRST_DELIVERY_DAYS_AGO - delivery * DELIVERY_EVERY_DAYS;
}

/** Their files are drawings until somebody looks at them; to clients they are photos like any other. */
async function insertPhotos(tx: Transaction, organizationId: string, stock: StockItem[]): Promise<void> {
  const rows = stock.flatMap(({ id, photos }) =>
    photos.map((photo, index) => ({ id: photo.id, itemId: id, position: index + 1 })),
  );
  await tx.query(sql`
    insert into photos (id, item_id, organization_id, position, width, height, format)
    select id, item_id, ${organizationId}, position, ${DRAWING_SIDE_PX}, ${DRAWING_SIDE_PX}, 'jpeg'
    from ${unnestRows('rows', rows, { id: 'text', itemId: 'text', position: 'integer' })}`);
  await summarizeItems(
    tx,
    stock.map((item) => item.id),
  );
}

async function publish(context: ChannelContext, dealer: DemoDealer, stock: StockItem[]): Promise<void> {
  for (let delivery = 0; delivery < DELIVERIES; delivery++) {
    const items = stock.filter((item) => item.delivery === delivery && !NEVER_PUBLISHED.includes(item.reference));
    const then = at(context, deliveredDaysAgo(delivery) - 2);
    const ids = (those: StockItem[]) => those.map((item) => item.id);
    await setPublished(then, DEMO, dealer.organizationId, dealer.liveId, ids(items), true);
    const both = items.filter((item) => !LIVE_ONLY.includes(item.reference));
    await setPublished(then, DEMO, dealer.organizationId, dealer.testId, ids(both), true);
  }
}

async function sellOverTheCounter(
  context: ChannelContext,
  { organizationId }: DemoDealer,
  stock: StockItem[],
): Promise<void> {
  const sold = stock.filter((item) => SOLD.includes(item.reference));
  for (const [index, item] of sold.entries()) {
    const terms = { amount: item.priceAmount, customerId: null };
    await sellUnits(at(context, 3 + index * 4), DEMO, organizationId, item.id, 1, terms);
  }
}

/** What a shop's life does to its stock. */
async function live(context: ChannelContext, dealer: DemoDealer, stock: StockItem[]): Promise<void> {
  const { organizationId } = dealer;
  const named = (references: readonly string[]) => stock.filter((item) => references.includes(item.reference));
  for (const item of named(RESERVED)) await reserveUnits(context, DEMO, organizationId, item.id, 1);
  const hidden = named(HIDDEN).map((item) => item.id);
  await setHidden(context, DEMO, organizationId, hidden.sort(), true);
  const off = named(TAKEN_OFF).map((item) => item.id);
  for (const channel of [dealer.liveId, dealer.testId]) {
    await setPublished(context, DEMO, organizationId, channel, off, false);
  }
  for (const { of, percentOff, fromDay, untilDay } of PROMOTIONS) {
    for (const item of named([of])) {
      await startPromotion(context, DEMO, organizationId, item.id, {
        priceAmount: Math.round((item.priceAmount * (100 - percentOff)) / 100 / MINOR_UNITS) * MINOR_UNITS,
        startsAt: inDays(fromDay),
        endsAt: untilDay === null ? null : inDays(untilDay),
      });
    }
  }
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}
