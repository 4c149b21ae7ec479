import { UNPRICEABLE_COUNT } from '../../channel/projection/unpriceable-documents.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** For changes after which a channel may not be able to price its items: its lists would answer 500. */
export type RateOptions = {
  /** Makes the change anyway; reads of items without a price fail until a rate is set. */
  isForced?: boolean;
};

/** Which pairs of currencies a channel needs, and has no rate for in either direction. */
const MISSING = sql`
  o.currency <> i.currency and not exists (
    select from exchange_rates r
    where (r.base = o.currency and r.quote = i.currency) or (r.base = i.currency and r.quote = o.currency))`;

const NAMED_LIMIT = 10;

export type ChannelPricing = {
  integrationId: string;
  base: string;
  quote: string;
  isRateMissing: boolean;
  /** How many of its documents have no price that could be served. */
  unpriceable: number;
};

/** Refuses, within the transaction that made the change, what left one of these channels without a rate. */
export async function assertRates(
  tx: Queryable,
  integrationIds: readonly string[],
  { isForced = false }: RateOptions = {},
): Promise<void> {
  if (isForced || integrationIds.length === 0) return;
  const rows = await tx.query<{ base: string; quote: string }>(sql`
    select distinct o.currency as base, i.currency as quote
    from integrations i join organizations o on o.id = i.organization_id
    where i.id = any(${integrationIds}) and ${MISSING} order by base, quote limit ${NAMED_LIMIT}`);
  if (rows.length === 0) return;
  const pairs = rows.map(({ base, quote }) => `${base}/${quote}`).join(', ');
  throw new DomainError(
    'rate_missing',
    `There is no exchange rate for ${pairs}, so that nothing could be priced. Set it first.`,
    'currency',
  );
}

/** Refuses to take away a rate that channels need. */
export async function assertUnused(
  tx: Queryable,
  base: string,
  quote: string,
  { isForced = false }: RateOptions = {},
): Promise<void> {
  if (isForced) return;
  const rows = await tx.query<{ id: string }>(sql`
    select i.id from integrations i join organizations o on o.id = i.organization_id
    where i.deleted_at is null
      and ((o.currency = ${base} and i.currency = ${quote}) or (o.currency = ${quote} and i.currency = ${base}))
    order by i.id limit ${NAMED_LIMIT}`);
  if (rows.length === 0) return;
  throw new DomainError(
    'rate_in_use',
    `${rows.map((row) => row.id).join(', ')} ${rows.length === 1 ? 'needs' : 'need'} the rate ${base}/${quote} to price anything.`,
  );
}

/** How many documents of a dealer's channels have no price that could be served. */
export async function countUnpriceable(db: Queryable, organizationId: string, limit: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select least(coalesce(sum(${UNPRICEABLE_COUNT}), 0), ${limit})::integer as count from integrations i
    where i.organization_id = ${organizationId} and i.deleted_at is null`);
  return row?.count ?? 0;
}

/** The channels with documents that can't be priced, or without the rate that they need, the worst first. */
export async function findUnpriceableChannels(db: Queryable, limit: number): Promise<ChannelPricing[]> {
  return await db.query<ChannelPricing>(sql`
    select i.id as "integrationId", o.currency as base, i.currency as quote, ${MISSING} as "isRateMissing", counted.unpriceable
    from integrations i join organizations o on o.id = i.organization_id
    cross join lateral (select ${UNPRICEABLE_COUNT} as unpriceable) counted
    where i.deleted_at is null and (counted.unpriceable > 0 or ${MISSING})
    order by counted.unpriceable desc, i.id limit ${limit}`);
}
