import type { Queryable } from '../../db/database.ts';
import { pruneFinishedJobs } from '../../db/jobs/job-lease.ts';
import { sql } from '../../db/sql.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { newId } from '../../ids/new-id.ts';
import type { ChannelContext } from '../context.ts';
import { rendererKey } from '../projection/project-items.ts';

/**
 * Mass changes: one setting alters every document of an integration. They are persisted jobs that project in batches.
 * Each batch uses the settings that are current when it runs. After a crash, a job resumes behind its last batch;
 * another change of settings makes it start over.
 */
export type JobKind = 'refresh' | 'render' | 'roll';

/** How the reason of a job begins that an exchange rate caused. */
export const RATE_REASON = 'rate ';

/** Settings of a channel, or of its dealer, that documents show in nothing but prices: `currency` is one of both. */
const PRICE_SETTINGS = new Set(['markupBasisPoints', 'rounding', 'currency']);

/** Whether prices are all that a job has to change; its reasons are names of settings and of rates. */
export function changesPricesAlone({ kind, reasons }: Pick<Job, 'kind' | 'reasons'>): boolean {
  const settings = reasons.filter((reason) => !reason.startsWith(RATE_REASON)).flatMap((reason) => reason.split(', '));
  return kind === 'refresh' && reasons.length > 0 && settings.every((name) => PRICE_SETTINGS.has(name));
}

export type Job = {
  id: string;
  integrationId: string;
  kind: JobKind;
  reasons: string[];
  status: 'pending' | 'running' | 'done';
  done: number;
  total: number;
  /** What the last try met; it is tried again until it is done. */
  error: string | null;
  createdAt: Date;
};

/** Queues a job for each integration that renders all its documents again, in the transaction that changed the setting. */
export async function enqueueJob(
  db: Queryable,
  kind: JobKind,
  integrationIds: string[],
  reason: string,
): Promise<void> {
  const jobs = [...integrationIds].sort().map((integrationId) => ({ jobId: newId('job'), integrationId }));
  await db.query(sql`
    insert into channel_jobs (id, integration_id, kind, reasons, total)
    select job_id, integration_id, ${kind}, array[${reason}::text],
      (select count(*) from publications p where p.integration_id = rows.integration_id)
    from ${unnestRows('rows', jobs, { jobId: 'text', integrationId: 'text' })}
    order by integration_id
    on conflict (integration_id, kind) where status in ('pending', 'running') do update set
      position = '', done = 0, total = excluded.total,
      reasons = case when ${reason} = any(channel_jobs.reasons) then channel_jobs.reasons
        else channel_jobs.reasons || excluded.reasons end`);
}

const JOB_COLUMNS = sql`j.id, j.integration_id as "integrationId", j.kind, j.reasons, j.status, j.done, j.total, j.error,
  j.created_at as "createdAt"`;

/** The newest jobs of one integration, with their progress. */
export async function listJobsOf(db: Queryable, integrationId: string, limit: number): Promise<Job[]> {
  return await db.query<Job>(sql`
    select ${JOB_COLUMNS} from channel_jobs j where j.integration_id = ${integrationId}
    order by j.created_at desc, j.id desc limit ${limit}`);
}

/** The newest jobs of an organization's integrations, with their progress. */
export async function listJobs(db: Queryable, organizationId: string, limit: number): Promise<Job[]> {
  return await db.query<Job>(sql`
    select ${JOB_COLUMNS} from channel_jobs j join integrations i on i.id = j.integration_id
    where i.organization_id = ${organizationId} order by j.created_at desc, j.id desc limit ${limit}`);
}

/**
 * After a change of the renderer or the base URL: documents that other code or another address rendered. A channel on
 * which such a job runs is left to it; asking again would start it over. A detached one can't be rendered.
 *
 * The least and the greatest are two looks by index for each channel. If the statement looked for any value that is not
 * ours, the planner might read the whole table, which usually has none.
 */
export async function enqueueStaleRenders(context: ChannelContext): Promise<number> {
  const renderer = rendererKey(context);
  const rows = await context.db.query<{ integration_id: string }>(sql`
    select i.id as integration_id from integrations i
    where i.organization_id is not null
      and not exists (select from channel_jobs j
        where j.integration_id = i.id and j.kind = 'render' and j.status in ('pending', 'running'))
      and ((select min(d.renderer) from channel_documents d where d.integration_id = i.id) <> ${renderer}
        or (select max(d.renderer) from channel_documents d where d.integration_id = i.id) <> ${renderer})`);
  if (rows.length > 0) {
    await enqueueJob(
      context.db,
      'render',
      rows.map((row) => row.integration_id),
      'renderer',
    );
  }
  return rows.length;
}

/** Deletes some of the jobs that were done long ago; returns how many. */
export async function pruneJobs(db: Queryable): Promise<number> {
  return await pruneFinishedJobs(db, 'channel_jobs');
}
