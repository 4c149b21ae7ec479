import { ApiError } from '../../../contract/errors.ts';
import { BYTES_PER_MB, COUNTED_BYTES_PER_WRITE } from '../../../contract/limits.ts';
import { secondsOfDayLeft } from '../../../contract/timestamps.ts';
import type { Queryable } from '../../../db/database.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { transactionTime, utcDay } from '../../../db/sql-time.ts';
import type { AdmittedIntegration } from '../authentication.ts';

/**
 * How much an integration may store in a UTC day. A write counts the bytes of its answer, which is recorded, and what its
 * statements store, also on the other channels of an item that it sells. It counts at least its body and a fixed
 * part for rows and indexes. The count is read by the statement that looks for recorded answers and raised by the
 * one that records them, in the write's own transaction, so it costs no round trip and all nodes count together.
 *
 * The write that crosses the quota is still stored. Writes in flight on other nodes, or under another lock, don't see
 * each other's bytes: past the quota each of them can store one batch more.
 */
const RETENTION_DAYS = 30;

export function quotaBytesOf(integration: AdmittedIntegration, defaultMbPerDay: number): number {
  return (integration.storageQuotaMb ?? defaultMbPerDay) * BYTES_PER_MB;
}

/** What the work of a write counts at least. */
export function leastBytes({ bodyBytes }: { bodyBytes: number }): number {
  return bodyBytes + COUNTED_BYTES_PER_WRITE;
}

/** A request that waits this long by the database's clock finds a new day. */
export function quotaExceeded(now: Date): ApiError {
  return new ApiError('storage_quota_exceeded', { headers: { 'Retry-After': String(secondsOfDayLeft(now)) } });
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
