import { newId } from '../contract/ids.ts';
import type { Database, Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';

/** What a mass replay sends again. */
export type ReplayFilter = {
  since: Date | null;
  until: Date | null;
  /** Event names; null is all. */
  types: string[] | null;
  statuses: ReplayableStatus[];
};

export const REPLAYABLE_STATUSES = ['failed', 'dead_letter', 'succeeded'] as const;
export type ReplayableStatus = (typeof REPLAYABLE_STATUSES)[number];

export type ReplayJob = {
  id: string;
  status: 'running' | 'done' | 'cancelled';
  done: number;
  total: number;
  createdAt: Date;
};

/** Per tick and job: slower than live traffic, which is never made to wait behind it. */
const BATCH_LIMIT = 50;
/** A job pauses while this many deliveries of its receiver are due already. */
const BACKLOG_LIMIT = 100;

/** Requeues one delivery with a fresh attempt counter; false if it is not there or not replayable now. */
export async function replayDelivery(
  db: Queryable,
  integrationId: string,
  deliveryId: string,
  now: Date | null,
): Promise<boolean> {
  const rows = await db.query(sql`
    update deliveries set status = 'pending', attempts = 0, takeovers = 0, finished_at = null,
      due_at = coalesce(${now}::timestamptz, clock_timestamp())
    where integration_id = ${integrationId} and id = ${deliveryId} and lease_token is null
      and status = any(${[...REPLAYABLE_STATUSES]}::text[]) returning id`);
  return rows.length === 1;
}

/** How many deliveries a filter matches: shown before a mass replay is started. */
export async function countReplay(db: Queryable, integrationId: string, filter: ReplayFilter): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) as count from deliveries d
    join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} and ${matches(filter)}`);
  return row?.count ?? 0;
}

/** Starts a mass replay of what matches now; deliveries made later are not part of it. */
export async function startReplay(
  db: Database,
  integrationId: string,
  filter: ReplayFilter,
  now: Date | null,
): Promise<ReplayJob> {
  const id = newId('job');
  const total = await countReplay(db, integrationId, filter);
  const [row] = await db.query<{ createdAt: Date }>(sql`
    insert into replay_jobs (id, integration_id, since, until, types, statuses, total)
    values (${id}, ${integrationId}, ${filter.since}, coalesce(${filter.until}, ${now}::timestamptz, clock_timestamp()),
      ${filter.types}, ${filter.statuses}, ${total})
    returning created_at as "createdAt"`);
  return { id, status: 'running', done: 0, total, createdAt: row?.createdAt ?? new Date() };
}

export async function cancelReplay(db: Queryable, integrationId: string, jobId: string): Promise<boolean> {
  const rows = await db.query(sql`
    update replay_jobs set status = 'cancelled', finished_at = now()
    where id = ${jobId} and integration_id = ${integrationId} and status = 'running' returning id`);
  return rows.length === 1;
}

export async function listReplays(db: Queryable, integrationId: string, limit: number): Promise<ReplayJob[]> {
  return await db.query<ReplayJob>(sql`
    select id, status, done, total, created_at as "createdAt" from replay_jobs
    where integration_id = ${integrationId} order by created_at desc, id desc limit ${limit}`);
}

type JobRow = {
  id: string;
  integration_id: string;
  since: Date | null;
  until: Date;
  types: string[] | null;
  statuses: ReplayableStatus[];
  position_at: Date | null;
  position_id: string;
};

/** One step of every running replay; the position commits with what was requeued. Returns how many were. */
export async function runReplays(db: Database, now: Date | null): Promise<number> {
  const jobs = await db.query<{ id: string }>(sql`
    select id from replay_jobs where status = 'running' order by created_at limit 100`);
  let requeued = 0;
  for (const { id } of jobs) requeued += await stepReplay(db, id, now);
  return requeued;
}

async function stepReplay(db: Database, jobId: string, now: Date | null): Promise<number> {
  return await db.transaction(async (tx) => {
    const [job] = await tx.query<JobRow>(sql`
      select id, integration_id, since, until, types, statuses, position_at, position_id from replay_jobs
      where id = ${jobId} and status = 'running' for update skip locked`);
    if (job === undefined) return 0;
    const backlog = await tx.query(sql`
      select 1 from deliveries
      where integration_id = ${job.integration_id} and status in ('pending', 'failed')
        and due_at <= coalesce(${now}::timestamptz, clock_timestamp()) limit ${BACKLOG_LIMIT}`);
    if (backlog.length === BACKLOG_LIMIT) return 0;
    const rows = await tx.query<{ id: string; created_at: Date }>(sql`
      select d.id, d.created_at from deliveries d
      join events e on e.integration_id = d.integration_id and e.id = d.event_id
      where d.integration_id = ${job.integration_id} and d.lease_token is null and ${matches(job)}
        and (d.created_at, d.id) > (coalesce(${job.position_at}::timestamptz, '-infinity'), ${job.position_id})
      order by d.created_at, d.id limit ${BATCH_LIMIT} for update of d`);
    const last = rows.at(-1);
    await tx.query(sql`
      update deliveries set status = 'pending', attempts = 0, takeovers = 0, finished_at = null,
        due_at = coalesce(${now}::timestamptz, clock_timestamp())
      where integration_id = ${job.integration_id} and id = any(${rows.map((row) => row.id)}::text[])`);
    await tx.query(sql`
      update replay_jobs set done = done + ${rows.length},
        position_at = ${last?.created_at ?? job.position_at}, position_id = ${last?.id ?? job.position_id},
        status = case when ${rows.length < BATCH_LIMIT} then 'done' else 'running' end,
        finished_at = case when ${rows.length < BATCH_LIMIT} then clock_timestamp() end
      where id = ${jobId}`);
    return rows.length;
  });
}

function matches(filter: ReplayFilter) {
  return sql`d.status = any(${filter.statuses}::text[])
    and (${filter.since}::timestamptz is null or d.created_at >= ${filter.since}::timestamptz)
    and (${filter.until}::timestamptz is null or d.created_at < ${filter.until}::timestamptz)
    and (${filter.types}::text[] is null or e.type = any(${filter.types}::text[]))`;
}
