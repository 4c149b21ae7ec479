import type { JsonObject } from '../../contract/versions.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Endpoint } from '../../webhooks/outbox.ts';
import type { ChannelSource, ImageFormat, ItemSource, PhotoSource, PromotionSource, Publication } from './documents.ts';
import { inverse, type Rate, type Rounding, rateFrom } from './pricing.ts';

/** Everything that rendering needs, read together after the locks are taken. */
export type ChannelSettings = ChannelSource & {
  integrationId: string;
  organizationId: string;
  endpoint: Endpoint;
  /** The versions to render: the pinned one first, then the one a roll is moving to. */
  versions: string[];
};

type ItemRow = {
  id: string;
  organization_id: string;
  kind: 'listing' | 'part';
  stock_number: string;
  title: string;
  description: string;
  price_amount: number | null;
  units: number;
  reserved_units: number;
  is_hidden: boolean;
  tax_treatment: string | null;
  attributes: JsonObject;
  created_at: Date;
  unit_name: string | null;
  location_name: string | null;
  photos: PhotoSource[] | null;
  promotions: PromotionRow[] | null;
};

/** A promotion as `PROMOTIONS` reads it. */
export type PromotionRow = { amount: number; starts_ms: number; ends_ms: number | null };

/** The promotions of an item that a statement reads as `i`, earliest first; null without any. */
export const PROMOTIONS = sql`
  (select json_agg(json_build_object('amount', m.price_amount,
     'starts_ms', (extract(epoch from m.starts_at) * 1000)::bigint,
     'ends_ms', (extract(epoch from m.ends_at) * 1000)::bigint) order by m.starts_at)
   from promotions m where m.item_id = i.id)`;

/** Items by organization and id: a channel shows those of its own dealer and no other. */
export async function readItems(tx: Transaction, itemIds: string[]): Promise<Map<string, ItemSource>> {
  const rows = await tx.query<ItemRow>(sql`
    select i.id, i.organization_id, i.kind, i.stock_number, i.title, i.description, i.price_amount, i.units, i.reserved_units, i.is_hidden,
      i.tax_treatment, i.attributes, i.created_at, u.name as unit_name, l.name as location_name,
      (select json_agg(json_build_object('id', p.id, 'position', p.position, 'width', p.width, 'height', p.height,
         'format', p.format) order by p.position) from photos p where p.item_id = i.id) as photos,
      ${PROMOTIONS} as promotions
    from items i
    left join locations l on l.id = i.location_id
    left join business_units u on u.id = l.business_unit_id
    where i.id = any(${itemIds}::text[])`);
  return new Map(rows.map((row) => [pairKey(row.organization_id, row.id), itemSource(row)]));
}

function itemSource(row: ItemRow): ItemSource {
  return {
    id: row.id,
    kind: row.kind,
    stockNumber: row.stock_number,
    title: row.title,
    description: row.description,
    priceAmount: row.price_amount,
    units: row.units,
    reservedUnits: row.reserved_units,
    isHidden: row.is_hidden,
    taxTreatment: row.tax_treatment,
    attributes: row.attributes,
    createdAt: row.created_at,
    location:
      row.unit_name === null || row.location_name === null
        ? null
        : { business_unit: row.unit_name, name: row.location_name },
    photos: row.photos ?? [],
    promotions: promotionsOf(row.promotions),
  };
}

export function promotionsOf(rows: PromotionRow[] | null): PromotionSource[] {
  return (rows ?? []).map(({ amount, starts_ms, ends_ms }) => ({ amount, startsAtMs: starts_ms, endsAtMs: ends_ms }));
}

/** What a document says of its prices, and what they depend on. */
export type PriceRow = {
  itemId: string;
  kind: 'listing' | 'part';
  status: string;
  quantity: number;
  isUnpriceable: boolean;
  validUntil: Date | null;
  stamp: Date;
  /** As it stands in the document: the price, and the promotion after it. */
  prices: string;
  priceAmount: number | null;
  promotions: PromotionRow[] | null;
};

/**
 * Within a string a quotation mark is escaped, so these are the keys themselves, whatever a dealer types. Of nothing else in
 * a document is `price` a key.
 */
export const BEFORE_PRICES = ',"price":';
export const AFTER_PRICES = ',"description":';

/**
 * The prices in documents that this renderer has made in the pinned version, of items that the dealer still has. Each is looked
 * up by its key: a plan for a dealer of average size would walk through all documents of a large one.
 */
export async function readPrices(
  tx: Transaction,
  { integrationId, itemIds, renderer }: { integrationId: string; itemIds: string[]; renderer: string },
): Promise<PriceRow[]> {
  return await tx.query<PriceRow>(sql`
    with channel as materialized (
      select api_version, organization_id from integrations where id = ${integrationId}
    )
    select d.item_id as "itemId", d.kind, d.status, d.quantity, d.is_unpriceable as "isUnpriceable",
      d.valid_until as "validUntil", d.updated_at as stamp, d.prices, i.price_amount as "priceAmount",
      ${PROMOTIONS} as promotions
    from channel cross join unnest(${itemIds}::text[]) as wanted (id)
    cross join lateral (
      select item_id, kind, status, quantity, is_unpriceable, valid_until, updated_at, renderer,
        split_part(split_part(document, ${BEFORE_PRICES}, 2), ${AFTER_PRICES}, 1) as prices
      from channel_documents
      where integration_id = ${integrationId} and api_version = channel.api_version and item_id = wanted.id offset 0) d
    cross join lateral (select id, organization_id, price_amount from items where id = wanted.id offset 0) i
    where d.renderer = ${renderer} and i.organization_id = channel.organization_id`);
}

type SettingsRow = {
  id: string;
  organization_id: string;
  api_version: string;
  rolling_to_version: string | null;
  is_test_mode: boolean;
  currency: string;
  markup_basis_points: number;
  rounding: Rounding;
  image_format: ImageFormat;
  organization_currency: string;
  organization_name: string;
  default_tax_treatment: string;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  country: string | null;
  rate: string | null;
  inverse_rate: string | null;
  url: string | null;
  subscribed_events: string[];
  is_sending: boolean;
  now: Date;
};

/** The settings of several integrations and the time, read after their clocks are locked. */
export async function readChannelSettings(
  tx: Transaction,
  integrationIds: string[],
  publicUrl: string,
): Promise<{ settings: ChannelSettings[]; now: Date | null }> {
  const rows = await tx.query<SettingsRow>(sql`
    select i.id, i.organization_id, i.api_version, i.rolling_to_version, i.is_test_mode, i.currency,
      i.markup_basis_points, i.rounding, i.image_format, o.currency as organization_currency, o.name as organization_name, o.default_tax_treatment,
      o.address_line1, o.address_line2, o.city, o.state, o.postal_code, o.country,
      direct.rate::text as rate, reverse.rate::text as inverse_rate, e.url, e.subscribed_events,
      endpoint.is_sending,
      date_trunc('milliseconds', clock_timestamp()) as now
    from integrations i
    join organizations o on o.id = i.organization_id
    join webhook_endpoints e on e.integration_id = i.id
    join webhook_endpoint_states endpoint on endpoint.integration_id = i.id
    left join exchange_rates direct on direct.base = o.currency and direct.quote = i.currency
    left join exchange_rates reverse on reverse.base = i.currency and reverse.quote = o.currency
    where i.id = any(${integrationIds}::text[])`);
  return { settings: rows.map((row) => settingsOf(row, publicUrl)), now: rows[0]?.now ?? null };
}

function settingsOf(row: SettingsRow, publicUrl: string): ChannelSettings {
  return {
    integrationId: row.id,
    organizationId: row.organization_id,
    versions: [row.api_version, ...(row.rolling_to_version === null ? [] : [row.rolling_to_version])],
    endpoint: {
      integrationId: row.id,
      organizationId: row.organization_id,
      apiVersion: row.api_version,
      isTestMode: row.is_test_mode,
      url: row.url,
      subscriptions: row.subscribed_events,
      isSending: row.is_sending,
    },
    priceRule: {
      from: row.organization_currency,
      to: row.currency,
      rate: rateOf(row),
      markupBasisPoints: row.markup_basis_points,
      rounding: row.rounding,
    },
    imageFormat: row.image_format,
    publicUrl,
    defaultTaxTreatment: row.default_tax_treatment,
    dealer: {
      name: row.organization_name,
      address: {
        line1: row.address_line1,
        line2: row.address_line2,
        city: row.city,
        state: row.state,
        postal_code: row.postal_code,
        country: row.country,
      },
    },
  };
}

function rateOf(row: SettingsRow): Rate | null {
  if (row.organization_currency === row.currency) return { numerator: 1n, denominator: 1n };
  if (row.rate !== null) return rateFrom(row.rate);
  return row.inverse_rate === null ? null : inverse(rateFrom(row.inverse_rate));
}

/** Null if there is no rate between the two. */
export async function readRate(tx: Queryable, from: string, to: string): Promise<Rate | null> {
  if (from === to) return { numerator: 1n, denominator: 1n };
  const [row] = await tx.query<{ base: string; rate: string }>(sql`
    select base, rate::text as rate from exchange_rates
    where (base = ${from} and quote = ${to}) or (base = ${to} and quote = ${from}) limit 1`);
  if (row === undefined) return null;
  return row.base === from ? rateFrom(row.rate) : inverse(rateFrom(row.rate));
}

/** The items on a channel that were published last, those with a price first: a preview is about prices. */
export async function readSample(tx: Transaction, integrationId: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select i.id from publications p join items i on i.id = p.item_id
    where p.integration_id = ${integrationId} and p.is_on and not i.is_hidden
    order by i.price_amount is null, p.published_at desc, i.id desc limit ${limit}`);
  return rows.map((row) => row.id);
}

/** How many items on a channel have which price. */
export async function readPublishedAmounts(
  tx: Transaction,
  integrationId: string,
): Promise<{ amount: number | null; hasPhotos: boolean; count: number }[]> {
  return await tx.query<{ amount: number | null; hasPhotos: boolean; count: number }>(sql`
    select i.price_amount as amount, exists (select from photos f where f.item_id = i.id) as "hasPhotos", count(*) as count
    from publications p join items i on i.id = p.item_id
    where p.integration_id = ${integrationId} and p.is_on and not i.is_hidden
    group by 1, 2`);
}

export async function readPublications(
  tx: Transaction,
  integrationIds: string[],
  itemIds: string[],
): Promise<Map<string, Publication>> {
  const rows = await tx.query<{ integration_id: string; item_id: string; is_on: boolean; published_at: Date }>(sql`
    select integration_id, item_id, is_on, published_at from publications
    where integration_id = any(${integrationIds}::text[]) and item_id = any(${itemIds}::text[])`);
  return new Map(
    rows.map((row) => [pairKey(row.integration_id, row.item_id), { isOn: row.is_on, publishedAt: row.published_at }]),
  );
}

export function pairKey(...parts: string[]): string {
  return parts.join(' ');
}
