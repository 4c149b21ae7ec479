import type { Command } from 'commander';
import { type Job, listJobs } from '../../channel/jobs/channel-job-queue.ts';
import { type DeletionJob, listDeletions } from '../../dealers/deletions.ts';
import { notFound } from '../../dealers/input-rules.ts';
import { findOrganization } from '../../dealers/organizations.ts';
import { table } from '../plain-text.ts';
import type { Shell } from '../shell.ts';
import { limitOption } from './list-page.ts';

const EXAMPLES = `
Example:
  $ npm run -s crownwheel -- jobs list --organization org_…

A change of currency, markup, rounding, image format, rate, address or name alters every document of a channel, and so
does a move to another API version. The service renders the documents again in the background, as a job that survives a
restart. Deleting an integration or an organization is also a job; its progress is counted in rows.`;

/** The settings whose names in the program are no words. */
const SETTING_LABELS: Readonly<Record<string, string>> = {
  markupBasisPoints: 'markup',
  imageFormat: 'image format',
  defaultTaxTreatment: 'default tax treatment',
  organization: 'attached to a dealer',
  renderer: 'new release',
};

type ListedJob = { id: string; createdAt: Date; json: Record<string, unknown>; cells: string[] };

/** Mass changes and deletions, and how far they are. */
export function addJobs(program: Command, shell: Shell): void {
  const noun = program
    .command('jobs')
    .description('show background jobs (mass changes and deletions) and their progress')
    .addHelpText('after', EXAMPLES);

  const list = noun
    .command('list')
    .description("list the newest jobs of a dealer's channels")
    .requiredOption('--organization <id>', 'the dealer, org_…')
    .addOption(limitOption())
    .addHelpText('after', EXAMPLES);
  shell.run(list, async ({ organization, limit }: { organization: string; limit: number }) => {
    const jobs = await shell.withDatabase(async (db) => {
      const changes = await listJobs(db, organization, limit + 1);
      const deletions = await listDeletions(db, organization, limit + 1);
      // A dealer that is deleted has its deletion left.
      if (deletions.length === 0 && (await findOrganization(db, organization)) === null) {
        throw notFound('organization', organization);
      }
      const listed = [...changes.map(listedChange), ...deletions.map(listedDeletion)];
      return listed.sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
    });
    const shown = jobs.slice(0, limit);
    return {
      json: { object: 'list', data: shown.map((job) => job.json), has_more: jobs.length > shown.length },
      text: shown.length === 0 ? 'No jobs: no mass change and no deletion.' : jobTable(shown),
    };
  });
}

function listedChange(job: Job): ListedJob {
  return {
    id: job.id,
    createdAt: job.createdAt,
    json: jobJson(job),
    cells: [job.integrationId, job.kind, stateOf(job), progressOf(job), causeOf(job)],
  };
}

function listedDeletion(job: DeletionJob): ListedJob {
  const { id, createdAt, integrationId, organizationId, status, stage, done, error } = job;
  const kind = integrationId === null ? 'delete_organization' : 'delete_integration';
  const total = job.total ?? 0;
  return {
    id,
    createdAt,
    json: {
      object: 'job',
      id,
      organization_id: organizationId,
      integration_id: integrationId,
      kind,
      reasons: ['deleted'],
      status,
      stage: stage === '' ? null : stage,
      done,
      total,
      error,
    },
    cells: [
      integrationId ?? organizationId ?? '',
      kind,
      stateOf(job),
      progressOf({ status, done, total }),
      stage === '' ? 'deleted' : `deleted; now removing ${stage.replaceAll('_', ' ')}`,
    ],
  };
}

function jobJson(job: Job): Record<string, unknown> {
  return {
    object: 'job',
    id: job.id,
    integration_id: job.integrationId,
    kind: job.kind,
    reasons: job.reasons,
    status: job.status,
    done: job.done,
    total: job.total,
    error: job.error,
  };
}

function jobTable(jobs: ListedJob[]): string {
  return table(
    ['ID', 'OF', 'KIND', 'STATUS', 'DOCUMENTS OR ROWS', 'CAUSE'],
    jobs.map((job) => [job.id, ...job.cells]),
  );
}

/** Each reason names one setting or several that were changed together. */
function causeOf({ reasons }: Job): string {
  return reasons
    .map((reason) =>
      reason
        .split(', ')
        .map((name) => SETTING_LABELS[name] ?? name)
        .join(', '),
    )
    .join('; ');
}

function stateOf({ status, error }: Pick<Job, 'status' | 'error'>): string {
  return error === null ? status : `${status}: ${error}`;
}

/** The total was counted when the job was asked for; documents may have come and gone since. */
function progressOf({ status, done, total }: Pick<Job, 'status' | 'done' | 'total'>): string {
  if (status === 'done') return `${done}, all`;
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100));
  return `${done} of ${Math.max(done, total)} (${percent} %)`;
}
