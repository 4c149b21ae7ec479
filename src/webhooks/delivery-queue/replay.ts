import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { firstIdAt } from '../../contract/ids.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';
import { clockTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import { byIndex } from './by-index.ts';
import { isDue } from './due.ts';
import { ATTEMPT_LIMIT } from './retries/retry-schedule.ts';

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
  /** Matched when the job was made, and no longer when the job reached them: sent meanwhile, replayed one by one, or pruned. */
  skipped: number;
  total: number;
  createdAt: Date;
};

/**
 * A job pauses while so many deliveries of its endpoint are due already, and adds so many at a time: together less than
 * half of the slots of an endpoint, so that a live event finds a free one at once.
 */
const BACKLOG_LIMIT = 16;
const BATCH_LIMIT = 16;
/** How many rows a step reads at most, however few of them match; also a step of counting. */
const SCAN_LIMIT = 5_000;
/** How many jobs a round steps at most, and how many of them may be one dealer's. */
const JOB_LIMIT = 100;
const DEALER_JOB_LIMIT = 4;
/** What a replayed delivery may store at most: each of its attempts with the beginning of its answer. */
export const REPLAYED_DELIVERY_BYTES = ATTEMPT_LIMIT * 1_536;
/** The audit log names so many of them. */
const AUDITED_IDS_LIMIT = 20;

/** Requeues one delivery with a fresh attempt counter; false if it is not there or not replayable now. */
export async function replayDelivery(
  db: Database,
  actor: Actor,
  integrationId: string,
  deliveryId: string,
  now: Date | null,
): Promise<boolean> {
  return (await replayDeliveries(db, actor, integrationId, [deliveryId], now)) === 1;
}

/** Requeues these at once, with fresh attempt counters. Returns how many; those that are not replayable now stay as they are. */
export async function replayDeliveries(
  db: Database,
  actor: Actor,
  integrationId: string,
  deliveryIds: readonly string[],
  now: Date | null,
): Promise<number> {
  return await db.transaction(async (tx) => {
    const requeued = await requeue(tx, integrationId, [...deliveryIds], now);
    if (requeued.length === 0) return 0;
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action: 'webhooks.deliveries_replayed',
      object: { kind: 'integration', id: integrationId },
      new: { total: requeued.length, deliveryIds: requeued.slice(0, AUDITED_IDS_LIMIT) },
      at: now,
    });
    return requeued.length;
  });
}

/** How many deliveries a filter matches: shown before a mass replay is started. */
export async function countReplay(db: Database, integrationId: string, filter: ReplayFilter): Promise<number> {
  return (await findMatching(db, integrationId, filter)).total;
}

/**
 * Starts a mass replay of what matches now; deliveries made later are not part of it. An integration has one at a time:
 * they would only slow each other down.
 */
export async function startReplay(
  db: Database,
  actor: Actor,
  integrationId: string,
  filter: ReplayFilter,
): Promise<ReplayJob> {
  const { since, until, types, statuses } = filter;
  const { total, lastId } = await findMatching(db, integrationId, filter);
  return await db.transaction(async (tx) => {
    const [job] = await tx.query<ReplayJob>(sql`
      insert into replay_jobs (id, integration_id, since, until, types, statuses, last_id, total)
      values (${newId('job')}, ${integrationId}, ${since}, ${until}, ${types}, ${statuses}, ${lastId}, ${total})
      on conflict (integration_id) where status = 'running' do nothing
      returning id, status, done, skipped, total, created_at as "createdAt"`);
    if (job === undefined) {
      throw new DomainError('already_running', 'A replay is running already; wait until it is done, or cancel it.');
    }
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action: 'webhooks.replay_started',
      object: { kind: 'integration', id: integrationId },
      new: { replayId: job.id, ...filter, total },
    });
    return job;
  });
}

export async function cancelReplay(db: Database, actor: Actor, integrationId: string, jobId: string): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const rows = await tx.query(sql`
      update replay_jobs set status = 'cancelled', finished_at = now()
      where id = ${jobId} and integration_id = ${integrationId} and status = 'running' returning id`);
    if (rows.length === 0) return false;
    await recordAudit(tx, actor, {
      organizationId: { ofIntegration: integrationId },
      action: 'webhooks.replay_cancelled',
      object: { kind: 'integration', id: integrationId },
      old: { replayId: jobId },
    });
    return true;
  });
}

/** The replays of these integrations that are running now. */
export async function listRunningReplays(
  db: Queryable,
  integrationIds: readonly string[],
): Promise<(ReplayJob & { integrationId: string })[]> {
  return await db.query(sql`
    select id, integration_id as "integrationId", status, done, skipped, total, created_at as "createdAt"
    from replay_jobs where integration_id = any(${[...integrationIds]}::text[]) and status = 'running' order by id`);
}

export async function listReplays(db: Queryable, integrationId: string, limit: number): Promise<ReplayJob[]> {
  return await db.query<ReplayJob>(sql`
    select id, status, done, skipped, total, created_at as "createdAt" from replay_jobs
    where integration_id = ${integrationId} order by created_at desc, id desc limit ${limit}`);
}

type JobRow = ReplayFilter & { integrationId: string; lastId: string; positionId: string };

/** One round of running replays, in which dealers take turns. Returns how many deliveries were requeued. */
export async function runReplays(db: Database, now: Date | null): Promise<number> {
  const jobs = await findNextJobs(db, now);
  let requeued = 0;
  for (const { id } of jobs) {
    requeued += await db.transaction((tx) => stepReplay(tx, id, now), { planning: 'by index' });
  }
  return requeued;
}

/**
 * First one job of each dealer, then the second of each, those first that have waited longest. A round is short, so that who
 * is ready again does not wait long for the next one. A job whose endpoint has a backlog is passed over.
 */
async function findNextJobs(db: Database, now: Date | null): Promise<{ id: string }[]> {
  return await byIndex<{ id: string }>(
    db,
    sql`
      select id from (
        select j.id, j.stepped_at, row_number() over (
          partition by coalesce(i.organization_id, i.id) order by j.stepped_at, j.id) as turn
        from replay_jobs j cross join lateral (
          select id, organization_id from integrations where id = j.integration_id limit 1) i
        where j.status = 'running' and not exists (${backlogOf(sql`j.integration_id`, now)})) ready
      where turn <= ${DEALER_JOB_LIMIT} order by turn, stepped_at, id limit ${JOB_LIMIT}`,
  );
}

/** The position commits with what was requeued. */
async function stepReplay(tx: Transaction, jobId: string, now: Date | null): Promise<number> {
  const [job] = await tx.query<JobRow>(sql`
    select integration_id as "integrationId", since, until, types, statuses, last_id as "lastId", position_id as "positionId"
    from replay_jobs where id = ${jobId} and status = 'running' for update skip locked`);
  if (job === undefined) return 0;
  const { found, position } = (await hasBacklog(tx, job.integrationId, now))
    ? { found: [], position: job.positionId }
    : await nextOf(tx, job);
  const requeued = await requeueFound(tx, found, now);
  const isDone = position >= job.lastId;
  await tx.query(sql`
    update replay_jobs set done = done + ${requeued}, position_id = ${position}, stepped_at = clock_timestamp(),
      skipped = case when ${isDone} then total - done - ${requeued} else 0 end,
      status = case when ${isDone} then 'done' else 'running' end, finished_at = case when ${isDone} then now() end
    where id = ${jobId}`);
  return requeued;
}

type Found = { id: string; ctid: string; isInFlight: boolean };

/**
 * What comes next, and where the job is then. It waits for one that is being sent: its outcome decides. Both statements go
 * along the primary key, whose order they ask for.
 */
async function nextOf(tx: Transaction, job: JobRow): Promise<{ found: Found[]; position: string }> {
  const { integrationId, types, statuses } = job;
  const from = [job.positionId, firstIdAt('delivery', job.since?.getTime() ?? 0)].sort().at(-1);
  const [end] = await tx.query<{ id: string }>(sql`
    select id from deliveries where integration_id = ${integrationId} and id > ${from} and id <= ${job.lastId}
    order by integration_id, id offset ${SCAN_LIMIT - 1} limit 1`);
  const lastId = end?.id ?? job.lastId;
  const rows = await tx.query<Found>(sql`
    select d.id, d.ctid, d.is_in_flight as "isInFlight" from (
      select id, ctid, event_id, status, lease_token is not null as is_in_flight from deliveries
      where integration_id = ${integrationId} and id > ${from} and id <= ${lastId}
      order by integration_id, id limit ${SCAN_LIMIT}) d
    cross join lateral (
      select type from events where integration_id = ${integrationId} and id = d.event_id limit 1) e
    where d.status = any(${statuses}::text[]) and (${types}::text[] is null or e.type = any(${types}::text[]))
    limit ${BATCH_LIMIT}`);
  const inFlight = rows.findIndex((row) => row.isInFlight);
  const found = rows.slice(0, inFlight === -1 ? rows.length : inFlight);
  const isCut = inFlight !== -1 || rows.length === BATCH_LIMIT;
  return { found, position: isCut ? (found.at(-1)?.id ?? job.positionId) : lastId };
}

async function requeueFound(tx: Transaction, found: Found[], now: Date | null): Promise<number> {
  const rows = await tx.query(sql`
    update deliveries d set ${REQUEUED}, due_at = ${clockTime(now)}
    from ${unnestRows('found', found, { ctid: 'tid', id: 'text' })}
    where d.ctid = found.ctid and d.id = found.id and ${IS_REPLAYABLE} returning d.id`);
  return rows.length;
}

async function hasBacklog(db: Queryable, integrationId: string, now: Date | null): Promise<boolean> {
  return (await db.query(backlogOf(sql`${integrationId}`, now))).length > 0;
}

/** A row if so many deliveries of the endpoint are due that a replay has to wait. */
function backlogOf(integrationId: Sql, now: Date | null): Sql {
  return sql`
    select d.id from deliveries d
    where d.integration_id = ${integrationId} and ${isDue(sql`(select ${clockTime(now)})`)}
    order by d.integration_id, d.due_at offset ${BACKLOG_LIMIT - 1} limit 1`;
}

async function requeue(tx: Transaction, integrationId: string, ids: string[], now: Date | null): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    update deliveries d set ${REQUEUED}, due_at = ${clockTime(now)}
    where d.integration_id = ${integrationId} and d.id = any(${ids}::text[]) and ${IS_REPLAYABLE} returning d.id`);
  return rows.map(({ id }) => id);
}

const REQUEUED = sql`status = 'pending', is_waiting = false, attempts = 0, takeovers = 0, finished_at = null`;
/** One that is being sent right now stays as it is: its outcome is not known yet. */
const IS_REPLAYABLE = sql`d.lease_token is null and d.status = any(${[...REPLAYABLE_STATUSES]}::text[])`;

type Span = { matched: number; lastMatched: string | null; read: number; lastRead: string | null };

/**
 * How many match, and the last of them. Ids are in the order of their making, so that a span of time is a span of the primary
 * key. It is read in steps, because one statement over a million deliveries took 4 to 13 s, and its limit is 15. The type is
 * asked for row by row and not joined: a join that began with the events read all deliveries of the integration for each of them.
 */
async function findMatching(
  db: Database,
  integrationId: string,
  { since, until, types, statuses }: ReplayFilter,
): Promise<{ total: number; lastId: string }> {
  const found = { total: 0, lastId: '' };
  let after: string | null = firstIdAt('delivery', since?.getTime() ?? 0);
  while (after !== null) {
    const [span]: Span[] = await byIndex<Span>(
      db,
      sql`
      select count(*) filter (where is_match) as matched, max(id) filter (where is_match) as "lastMatched",
        count(*) as read, max(id) as "lastRead"
      from (
        select d.id, d.status = any(${statuses}::text[]) and (${types}::text[] is null
          or (select type from events where integration_id = d.integration_id and id = d.event_id) = any(${types}::text[]))
          as is_match
        from deliveries d
        where d.integration_id = ${integrationId} and d.id > ${after}
          ${until === null ? sql`` : sql`and d.id < ${firstIdAt('delivery', until.getTime())}`}
        order by d.integration_id, d.id limit ${SCAN_LIMIT}) step`,
    );
    found.total += span?.matched ?? 0;
    found.lastId = span?.lastMatched ?? found.lastId;
    after = span?.read === SCAN_LIMIT ? span.lastRead : null;
  }
  return found;
}
