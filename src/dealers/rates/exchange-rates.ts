import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { enqueueJob, RATE_REASON } from '../../channel/jobs/channel-job-queue.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { checkedCurrency } from '../input-rules.ts';
import { assertUnused, type RateOptions } from './missing-rates.ts';

const RATE_PATTERN = /^\d{1,10}(\.\d{1,10})?$/;

export type ExchangeRate = { base: string; quote: string; rate: string };

/** Sets how many units of `quote` one unit of `base` buys. The pair serves both directions. Returns the rate that it replaced. */
export async function setRate(
  context: ChannelContext,
  actor: Actor,
  baseText: string,
  quoteText: string,
  rate: string,
): Promise<ExchangeRate | null> {
  const [base, quote] = checkedPair(baseText, quoteText);
  if (base === quote) throw new DomainError('invalid_input', 'A currency has no rate to itself.', 'quote');
  if (!RATE_PATTERN.test(rate) || Number(rate) === 0) {
    throw new DomainError('invalid_input', 'A rate is a positive decimal with at most ten decimals.', 'rate');
  }
  return await context.db.transaction(async (tx) => {
    // The opposite pair would contradict the new one; nobody may add it meanwhile.
    await lockRatesExclusively(tx);
    const [opposite] = await tx.query<{ rate: string }>(sql`
      delete from exchange_rates where base = ${quote} and quote = ${base} returning trim_scale(rate)::text as rate`);
    const [old] = await tx.query<{ rate: string }>(sql`
      select trim_scale(rate)::text as rate from exchange_rates where base = ${base} and quote = ${quote}`);
    await tx.query(sql`
      insert into exchange_rates (base, quote, rate) values (${base}, ${quote}, ${rate}::numeric)
      on conflict (base, quote) do update set rate = excluded.rate, updated_at = now()`);
    await refreshPair(tx, base, quote);
    await recordAudit(tx, actor, {
      organizationId: null,
      action: 'rate.set',
      object: { kind: 'exchange_rate', id: `${base}/${quote}` },
      old: { rate: old?.rate ?? null, opposite: opposite?.rate ?? null },
      new: { rate, opposite: null },
    });
    if (opposite !== undefined) return { base: quote, quote: base, rate: opposite.rate };
    return old === undefined ? null : { base, quote, rate: old.rate };
  });
}

/**
 * Removes a rate that no channel needs. With force it removes any rate; items that need it then have no price, and
 * their reads fail.
 */
export async function removeRate(
  context: ChannelContext,
  actor: Actor,
  baseText: string,
  quoteText: string,
  options: RateOptions = {},
): Promise<boolean> {
  const [base, quote] = checkedPair(baseText, quoteText);
  return await context.db.transaction(async (tx) => {
    await lockRatesExclusively(tx);
    const [old] = await tx.query<{ rate: string }>(sql`
      delete from exchange_rates where base = ${base} and quote = ${quote} returning trim_scale(rate)::text as rate`);
    if (old === undefined) return false;
    await assertUnused(tx, base, quote, options);
    await refreshPair(tx, base, quote);
    await recordAudit(tx, actor, {
      organizationId: null,
      action: 'rate.removed',
      object: { kind: 'exchange_rate', id: `${base}/${quote}` },
      old,
    });
    return true;
  });
}

export async function listRates(db: Queryable): Promise<ExchangeRate[]> {
  return await db.query<ExchangeRate>(sql`
    select base, quote, trim_scale(rate)::text as rate from exchange_rates order by base, quote`);
}

/** The channels of all dealers that convert between these two currencies, in either direction. A rate reprices them. */
export async function findConvertingChannels(
  db: Queryable,
  base: string,
  quote: string,
): Promise<{ integrationId: string; organizationId: string }[]> {
  return await db.query<{ integrationId: string; organizationId: string }>(sql`
    select i.id as "integrationId", o.id as "organizationId"
    from integrations i join organizations o on o.id = i.organization_id
    where i.deleted_at is null
      and ((o.currency = ${base} and i.currency = ${quote}) or (o.currency = ${quote} and i.currency = ${base}))
    order by i.id`);
}

/**
 * Call this first in a transaction that changes which currencies a channel converts between. A rate that changes at the
 * same time looks for the channels that need it: it must find this one, or this one must be read with that rate.
 */
export async function lockRatesShared(tx: Transaction): Promise<void> {
  await tx.query(sql`lock table exchange_rates in row exclusive mode`);
}

function checkedPair(base: string, quote: string): [string, string] {
  return [checkedCurrency(base, 'base'), checkedCurrency(quote, 'quote')];
}

/** Excludes those that share the lock, and each other. */
async function lockRatesExclusively(tx: Transaction): Promise<void> {
  await tx.query(sql`lock table exchange_rates in share row exclusive mode`);
}

async function refreshPair(tx: Queryable, base: string, quote: string): Promise<void> {
  const channels = await findConvertingChannels(tx, base, quote);
  await enqueueJob(
    tx,
    'refresh',
    channels.map(({ integrationId }) => integrationId),
    `${RATE_REASON}${base}/${quote}`,
  );
}
