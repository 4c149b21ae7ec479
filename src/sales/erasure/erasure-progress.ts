import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { ERASURE_STAGES } from './erasure-stages.ts';
import { SEARCHED_TABLES } from './searched-texts.ts';

/** How far an erasure is. Each table of texts that is searched counts as a step. */
export type ErasureProgress = {
  id: string;
  isDone: boolean;
  step: number;
  steps: number;
  /** Rows. */
  lookedAt: number;
  changed: number;
  error: string | null;
  createdAt: Date;
  finishedAt: Date | null;
};

type Row = Omit<ErasureProgress, 'step' | 'steps'> & { stage: string; table: string | null };

const STEPS = ERASURE_STAGES.flatMap(({ name }) =>
  name === 'texts' ? SEARCHED_TABLES.map(({ table }) => `${name} ${table}`) : [name],
);
const FINISHED_SHOWN_HOURS = 24;

/** Erasures under way and those of the last day, newest first. */
export async function listErasures(db: Queryable, organizationId: string, limit: number): Promise<ErasureProgress[]> {
  const rows = await db.query<Row>(sql`
    select id, status = 'done' as "isDone", stage, position ->> 'table' as "table",
      looked_at as "lookedAt", done as changed, error, created_at as "createdAt", finished_at as "finishedAt"
    from erasure_jobs
    where organization_id = ${organizationId}
      and (finished_at is null or finished_at > now() - make_interval(hours => ${FINISHED_SHOWN_HOURS}))
    order by created_at desc, id desc limit ${limit}`);
  return rows.map(({ stage, table, ...row }) => ({
    ...row,
    step: row.isDone ? STEPS.length : stepOf(stage, table),
    steps: STEPS.length,
  }));
}

function stepOf(stage: string, table: string | null): number {
  return Math.max(1, STEPS.indexOf(stage === 'texts' ? `${stage} ${table ?? SEARCHED_TABLES[0]?.table}` : stage) + 1);
}
