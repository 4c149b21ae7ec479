import { BYTES_PER_MB, DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY } from '../contract/limits.ts';
import { DAY_MS } from '../contract/timestamps.ts';
import { countedDatabase } from '../db/counted-database.ts';
import type { Database, Queryable } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { transactionTime, utcDay } from '../db/sql-time.ts';

/**
 * What the people of a dealer store by the dashboard, and the jobs that they start: one count for each dealer and UTC day, in
 * the database, so that all nodes count together. What a dealer's integrations store by the API has quotas of its own
 * (http/public/writes/storage-quota.ts).
 */
const RETENTION_DAYS = 30;

/** Whose count it is: a dealer's, or that of the dealer to whom an integration belongs. */
export type StorageOwner = string | { ofIntegration: string };

/** What a dealer has stored today, and how much it may. */
export type StorageUse = { bytes: number; quotaBytes: number; now: Date };

/** What an operation or a job needs that stores something for a dealer. */
export type StorageCounter = {
  /** Counts what is stored through it. */
  countedDb(db: Database): Database;
  /** Counts what no statement carries: files, and what others will store because of this. */
  count(bytes: number): Promise<void>;
};

export function storageCounter(db: Queryable, owner: StorageOwner, now: () => Date | null): StorageCounter {
  return {
    countedDb: (counted) => countedDatabase(counted, (bytes) => raiseStorageUsage(owner, bytes, now())),
    async count(bytes) {
      if (bytes > 0) await db.query(raiseStorageUsage(owner, bytes, now()));
    },
  };
}

/** The statement that raises today's count. What comes after its dealer was deleted is not counted. */
export function raiseStorageUsage(owner: StorageOwner, bytes: number, now: Date | null): Sql {
  const organization =
    typeof owner === 'string'
      ? sql`select id from organizations where id = ${owner}`
      : sql`select organization_id from integrations where id = ${owner.ofIntegration} and organization_id is not null`;
  return sql`
    insert into organization_storage_usage (organization_id, day, bytes)
    select owner.id, ${utcDay(transactionTime(now))}, ${Math.ceil(bytes)}::bigint from (${organization}) as owner (id)
    on conflict (organization_id, day) do update set bytes = organization_storage_usage.bytes + excluded.bytes`;
}

/** Columns for a statement that reads an organization as `o`: what it has stored today and how much it may, for `storageUseOf`. */
export function storageUseColumns(now: Date | null): Sql {
  return sql`o.storage_quota_mb as "storageQuotaMb", ${transactionTime(now)} as "storageNow",
    coalesce((select u.bytes from organization_storage_usage u
      where u.organization_id = o.id and u.day = ${utcDay(transactionTime(now))}), 0) as "storedBytes"`;
}

export type StorageUseRow = { storageQuotaMb: number | null; storageNow: Date; storedBytes: number };

export function storageUseOf(row: StorageUseRow, defaultMb = DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY): StorageUse {
  return {
    bytes: row.storedBytes,
    quotaBytes: (row.storageQuotaMb ?? defaultMb) * BYTES_PER_MB,
    now: row.storageNow,
  };
}

/** Null if there is no such dealer. */
export async function readStorageUse(
  db: Queryable,
  organizationId: string,
  { now, defaultMb }: { now: Date | null; defaultMb?: number | undefined },
): Promise<StorageUse | null> {
  const [row] = await db.query<StorageUseRow>(sql`
    select ${storageUseColumns(now)} from organizations o where o.id = ${organizationId}`);
  return row === undefined ? null : storageUseOf(row, defaultMb);
}

/** What, until when, and who can change it; for the dealer. */
export function quotaMessage({ quotaBytes, now }: StorageUse): string {
  const mb = quotaBytes / BYTES_PER_MB;
  const quota = mb < MB_PER_GB ? `${mb} MB` : `${Math.round((mb / MB_PER_GB) * 10) / 10} GB`;
  const tomorrow = new Date(now.getTime() + DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  return `Your business has stored the ${quota} that it may store in a day. You can go on from ${tomorrow} 00:00 UTC, or ask the operator of this service to raise the quota. Until then you can still read, delete, and fulfil or cancel orders.`;
}

const MB_PER_GB = 1_024;

/** Deletes the counts of days long past; returns how many. */
export async function pruneDealerStorageUsage(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from organization_storage_usage where day < ${utcDay(transactionTime(now))} - ${RETENTION_DAYS}::integer
    returning day`);
  return rows.length;
}
