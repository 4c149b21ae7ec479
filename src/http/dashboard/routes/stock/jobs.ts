import { Readable } from 'node:stream';
import type { Actor } from '../../../../audit/actor.ts';
import { AUDIT_ACTOR_LABELS } from '../../../../contract/audit-actions.ts';
import type { jobOperations, StockJob } from '../../../../contract/dashboard/stock/jobs.ts';
import type { Queryable } from '../../../../db/database.ts';
import { namesOfPeople } from '../../../../dealers/people-names.ts';
import { jobErrorLines, readableErrors } from '../../../../inventory/jobs/error-file.ts';
import {
  cancelJob,
  countJobs,
  findJob,
  type JobRow,
  listJobErrors,
  listJobs,
  undoJob,
  undoRefusal,
} from '../../../../inventory/jobs/stock-job-queue.ts';
import type { Call, Handlers, SignedIn } from '../../call.ts';
import { pacedPieces } from '../../limits/file-pace.ts';
import { pageRequestOf, readPage } from '../../lists/list-page.ts';

/** Jobs have one order. */
const SORT = '-created';
const ERRORS_SHOWN = 100;

export const jobHandlers: Handlers<typeof jobOperations> = {
  async listJobs({ context, user, actor, query }) {
    const request = pageRequestOf(query, SORT);
    const { kind, status, q: search } = query;
    const filter = {
      organizationId: user.organizationId,
      ...(kind === undefined ? {} : { kind }),
      ...(status === undefined ? {} : { status }),
      ...(search === undefined ? {} : { search }),
    };
    const { rows, page } = await readPage(request, SORT, {
      read: () => listJobs(context.db, { ...filter, from: request.from, limit: request.limit + 1 }),
      count: () => countJobs(context.db, filter),
      positionOf: (row) => ({ value: row.sortValue, id: row.id }),
    });
    return { data: await presentJobs(context.db, user, actor, rows), ...page };
  },

  async getJob({ context, user, actor, params }) {
    const row = await findJob(context.db, user.organizationId, params.job_id);
    const [job] = await presentJobs(context.db, user, actor, [row]);
    const errors = await listJobErrors(context.db, user.organizationId, row.id, { after: 0, limit: ERRORS_SHOWN });
    return {
      job: job as StockJob,
      errors: readableErrors(errors, user.seesCost).map(({ line, itemId, stockNumber, field, message }) => ({
        line,
        item_id: itemId,
        stock_number: stockNumber,
        field,
        message,
      })),
    };
  },

  async cancelJob(call) {
    const { context, user, params } = call;
    await cancelJob(context.db, user.organizationId, params.job_id);
    notifyOfJob(call, params.job_id);
    return null;
  },

  async undoJob(call) {
    const { context, user, actor, params } = call;
    const options = { isCostAllowed: user.seesCost };
    const id = await undoJob(context.db, actor, user.organizationId, params.job_id, options);
    notifyOfJob(call, id);
    return { job_id: id };
  },

  async exportJobErrors({ context, user, params, reply }) {
    const job = await findJob(context.db, user.organizationId, params.job_id);
    const lines = jobErrorLines(context.db, user, job);
    return await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="errors.csv"')
      .send(Readable.from(pacedPieces(user.organizationId, lines)));
  },
};

/** Open pages learn of a job that was asked for or ended by a person; the worker notifies them of its progress itself. */
export function notifyOfJob({ context, user }: Pick<Call, 'context'> & { user: SignedIn }, jobId: string): void {
  context.dashboard.feed.notify(user.organizationId, 'job', [jobId]);
}

async function presentJobs(
  db: Queryable,
  { organizationId }: SignedIn,
  asker: Actor,
  rows: JobRow[],
): Promise<StockJob[]> {
  const people = rows.flatMap(({ actor }) => (actor.kind === 'person' ? [actor.userId] : []));
  const names = people.length === 0 ? new Map<string, string>() : await namesOfPeople(db, organizationId, people);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    title: row.title,
    status: row.status,
    total: row.total,
    done: row.done,
    counts: row.counts,
    error_count: row.errorCount,
    error: row.error,
    asked_by: askedBy(row, names),
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
    can_cancel: row.finishedAt === null,
    can_undo: row.canUndo && undoRefusal(asker, row) === null,
    undo_refusal: row.canUndo ? undoRefusal(asker, row) : null,
    undo_until: row.undoUntil?.toISOString() ?? null,
    undoes: row.undoes,
    undone_by: row.undoneBy,
  }));
}

function askedBy({ actor }: JobRow, names: Map<string, string>): string | null {
  if (actor.kind === 'person') return names.get(actor.userId) ?? null;
  return actor.kind === 'api_key' ? null : AUDIT_ACTOR_LABELS[actor.kind];
}
