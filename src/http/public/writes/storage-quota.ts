import { ApiError } from '../../../contract/errors.ts';
import {
  BYTES_PER_MB,
  COUNTED_BYTES_PER_WRITE,
  DEALER_QUOTA_TIMES,
  DISK_FULL_RETRY_SECONDS,
} from '../../../contract/limits.ts';
import { secondsOfDayLeft } from '../../../contract/timestamps.ts';
import type { Queryable } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { transactionTime, utcDay } from '../../../db/sql-time.ts';
import { integrationsOf } from '../../../dealers/integrations/admission.ts';
import type { AdmittedIntegration } from '../authentication.ts';

/**
 * How much an integration may store in a UTC day. A write counts the bytes of its answer, which is recorded, and what its
 * statements store, also on the other channels of an item that it sells. It counts at least its body and a fixed
 * part for rows and indexes. The count is read by the statement that looks for recorded answers and raised by the
 * one that records them, in the write's own transaction, so it costs no round trip and all nodes count together.
 *
 * The write that crosses the quota is still stored. Writes in flight on other nodes, or under another lock, don't see
 * each other's bytes: past the quota each of them can store one batch more.
 *
 * The integrations of a dealer have a quota together, or a hundred keys would store a terabyte a day. Their sum is read only
 * for an integration that has stored a good part of its own quota. So it costs nothing for most of them, and when their dealer
 * is over its quota, those that stored little can still write, up to that part.
 */
const RETENTION_DAYS = 30;
/** A hundred integrations that stay below it store no more than their dealer may. */
const ASKED_FROM_SHARE = 0.1;

export type StorageQuota = {
  organizationId: string;
  bytes: number;
  dealerBytes: number;
  /** From this count on, the sum of the dealer's integrations counts, too. */
  askedFromBytes: number;
};

export function quotaOf(integration: AdmittedIntegration, defaultMbPerDay: number): StorageQuota {
  const { organizationId, storageQuotaMb } = integration;
  const bytes = (storageQuotaMb ?? defaultMbPerDay) * BYTES_PER_MB;
  return {
    organizationId,
    bytes,
    dealerBytes: Math.max(defaultMbPerDay * BYTES_PER_MB * DEALER_QUOTA_TIMES, bytes),
    askedFromBytes: Math.ceil(bytes * ASKED_FROM_SHARE),
  };
}

/** What all integrations of a dealer have stored on a day. */
export function storedByDealer(organizationId: string, day: Sql): Sql {
  return sql`
    select coalesce(sum(used.bytes), 0)::bigint from (${integrationsOf(organizationId)}) as own
    join storage_usage used on used.integration_id = own.id and used.day = ${day}`;
}

/** What the work of a write counts at least. */
export function leastBytes({ bodyBytes }: { bodyBytes: number }): number {
  return bodyBytes + COUNTED_BYTES_PER_WRITE;
}

/** A request that waits this long by the database's clock finds a new day. */
export function quotaExceeded(now: Date): ApiError {
  return new ApiError('storage_quota_exceeded', { headers: { 'Retry-After': String(secondsOfDayLeft(now)) } });
}

/** It comes before the quota of the one who writes. */
export function diskNearlyFull(): ApiError {
  return new ApiError('overloaded', {
    message:
      'The disk of the service is nearly full. Nothing was written. Retry with the same key after the time given in Retry-After.',
    headers: { 'Retry-After': String(DISK_FULL_RETRY_SECONDS) },
  });
}

/** The statement that raises today's count. */
export function raiseCount(integrationId: string, bytes: number, now: Date | null): Sql {
  return sql`
    insert into storage_usage (integration_id, day, bytes)
    values (${integrationId}, ${utcDay(transactionTime(now))}, ${bytes})
    on conflict (integration_id, day) do update set bytes = storage_usage.bytes + excluded.bytes`;
}

/** Deletes the counts of days long past; returns how many. */
export async function pruneStorageUsage(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from storage_usage where day < ${utcDay(transactionTime(now))} - ${RETENTION_DAYS}::integer
    returning day`);
  return rows.length;
}
