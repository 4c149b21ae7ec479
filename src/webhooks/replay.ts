import { firstIdAt, newId } from '../contract/ids.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { type Sql, sql } from '../db/sql.ts';
import { EndpointError } from './endpoint-error.ts';

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
  /** Matched when the job was made, and no longer when their turn came: sent meanwhile, replayed one by one, or pruned. */
  skipped: number;
  total: number;
  createdAt: Date;
};

/**
 * A job pauses while so many deliveries of its receiver are due already, and adds so many at a time: together less than
 * half of what a receiver may have in flight, so that a live event finds a place at once.
 */
const BACKLOG_LIMIT = 16;
const BATCH_LIMIT = 16;
/** How many rows a step reads at most, however few of them match. */
const SCAN_LIMIT = 5_000;
const JOB_LIMIT = 100;

/** Requeues one delivery with a fresh attempt counter; false if it is not there or not replayable now. */
export async function replayDelivery(
  db: Queryable,
  integrationId: string,
  deliveryId: string,
  now: Date | null,
): Promise<boolean> {
  return (await requeue(db, integrationId, [deliveryId], now)) === 1;
}

/** How many deliveries a filter matches: shown before a mass replay is started. */
export async function countReplay(db: Queryable, integrationId: string, filter: ReplayFilter): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) as count from ${matching(integrationId, filter)}`);
  return row?.count ?? 0;
}

/**
 * Starts a mass replay of what matches now; deliveries made later are not part of it. An integration has one at a time:
 * they would only slow each other down.
 */
export async function startReplay(db: Queryable, integrationId: string, filter: ReplayFilter): Promise<ReplayJob> {
  const { since, until, types, statuses } = filter;
  const [job] = await db.query<ReplayJob>(sql`
    insert into replay_jobs (id, integration_id, since, until, types, statuses, last_id, total)
    select ${newId('job')}, ${integrationId}, ${since}, ${until}, ${types}, ${statuses}, coalesce(max(d.id), ''), count(*)
    from ${matching(integrationId, filter)}
    on conflict (integration_id) where status = 'running' do nothing
    returning id, status, done, skipped, total, created_at as "createdAt"`);
  if (job === undefined) throw new EndpointError('A replay is running already; wait until it is done, or cancel it.');
  return job;
}

export async function cancelReplay(db: Queryable, integrationId: string, jobId: string): Promise<boolean> {
  const rows = await db.query(sql`
    update replay_jobs set status = 'cancelled', finished_at = now()
    where id = ${jobId} and integration_id = ${integrationId} and status = 'running' returning id`);
  return rows.length === 1;
}

export async function listReplays(db: Queryable, integrationId: string, limit: number): Promise<ReplayJob[]> {
  return await db.query<ReplayJob>(sql`
    select id, status, done, skipped, total, created_at as "createdAt" from replay_jobs
    where integration_id = ${integrationId} order by created_at desc, id desc limit ${limit}`);
}

type JobRow = ReplayFilter & { integrationId: string; lastId: string; positionId: string };

/** One step of running replays, those first that have waited longest. Returns how many deliveries were requeued. */
export async function runReplays(db: Database, now: Date | null): Promise<number> {
  const jobs = await db.query<{ id: string }>(sql`
    select id from replay_jobs where status = 'running' order by stepped_at limit ${JOB_LIMIT}`);
  let requeued = 0;
  for (const { id } of jobs) requeued += await db.transaction((tx) => stepReplay(tx, id, now));
  return requeued;
}

/** The position commits with what was requeued. */
async function stepReplay(tx: Transaction, jobId: string, now: Date | null): Promise<number> {
  const [job] = await tx.query<JobRow>(sql`
    select integration_id as "integrationId", since, until, types, statuses, last_id as "lastId", position_id as "positionId"
    from replay_jobs where id = ${jobId} and status = 'running' for update skip locked`);
  if (job === undefined) return 0;
  const { ids, position } = (await hasBacklog(tx, job.integrationId, now))
    ? { ids: [], position: job.positionId }
    : await nextOf(tx, job);
  const requeued = await requeue(tx, job.integrationId, ids, now);
  const isDone = position >= job.lastId;
  await tx.query(sql`
    update replay_jobs set done = done + ${requeued}, position_id = ${position}, stepped_at = clock_timestamp(),
      skipped = case when ${isDone} then total - done - ${requeued} else 0 end,
      status = case when ${isDone} then 'done' else 'running' end, finished_at = case when ${isDone} then now() end
    where id = ${jobId}`);
  return requeued;
}

/** What comes next, and where the job is then. It waits for one that is being sent: its outcome decides. */
async function nextOf(tx: Transaction, job: JobRow): Promise<{ ids: string[]; position: string }> {
  const from = [job.positionId, firstIdAt('delivery', job.since?.getTime() ?? 0)].sort().at(-1);
  const [end] = await tx.query<{ id: string }>(sql`
    select id from deliveries where integration_id = ${job.integrationId} and id > ${from} and id <= ${job.lastId}
    order by id offset ${SCAN_LIMIT - 1} limit 1`);
  const lastId = end?.id ?? job.lastId;
  const rows = await tx.query<{ id: string; isInFlight: boolean }>(sql`
    select d.id, d.lease_token is not null as "isInFlight" from ${matching(job.integrationId, job)}
      and d.id > ${job.positionId} and d.id <= ${lastId}
    order by d.id limit ${BATCH_LIMIT}`);
  const inFlight = rows.findIndex((row) => row.isInFlight);
  const ids = rows.slice(0, inFlight === -1 ? rows.length : inFlight).map(({ id }) => id);
  const isCut = inFlight !== -1 || rows.length === BATCH_LIMIT;
  return { ids, position: isCut ? (ids.at(-1) ?? job.positionId) : lastId };
}

async function hasBacklog(db: Queryable, integrationId: string, now: Date | null): Promise<boolean> {
  const rows = await db.query(sql`
    select id from deliveries
    where integration_id = ${integrationId} and status in ('pending', 'failed') and not is_waiting
      and due_at <= coalesce(${now}::timestamptz, clock_timestamp()) limit ${BACKLOG_LIMIT}`);
  return rows.length === BACKLOG_LIMIT;
}

/** One that is being sent right now stays as it is: its outcome is not known yet. */
async function requeue(db: Queryable, integrationId: string, ids: string[], now: Date | null): Promise<number> {
  const rows = await db.query(sql`
    update deliveries set status = 'pending', is_waiting = false, attempts = 0, takeovers = 0, finished_at = null,
      due_at = coalesce(${now}::timestamptz, clock_timestamp())
    where integration_id = ${integrationId} and id = any(${ids}::text[]) and lease_token is null
      and status = any(${[...REPLAYABLE_STATUSES]}::text[]) returning id`);
  return rows.length;
}

/** Ids are in the order of their making, so that a span of time is a span of the primary key. */
function matching(integrationId: string, { since, until, types, statuses }: ReplayFilter): Sql {
  return sql`deliveries d join events e on e.integration_id = d.integration_id and e.id = d.event_id
    where d.integration_id = ${integrationId} and d.status = any(${statuses}::text[])
      and (${types}::text[] is null or e.type = any(${types}::text[]))
      and d.id >= ${firstIdAt('delivery', since?.getTime() ?? 0)}
      ${until === null ? sql`` : sql`and d.id < ${firstIdAt('delivery', until.getTime())}`}`;
}
