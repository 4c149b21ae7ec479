import { IDEMPOTENCY_RETENTION_HOURS } from '../contract/limits.ts';
import type { Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

const BATCH_LIMIT = 1_000;

/** Deletes one batch of idempotency records past their day; returns how many went. */
export async function pruneIdempotency(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    delete from idempotency_records where ctid in (
      select ctid from idempotency_records
      where created_at <= coalesce(${now}::timestamptz, now()) - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS})
      limit ${BATCH_LIMIT})
    returning key`);
  return rows.length;
}
