import type { Command } from 'commander';
import { type Job, listJobs } from '../../channel/job-queue.ts';
import { assertOrganization } from '../../dealers/organizations.ts';
import { table } from '../plain-text.ts';
import type { Shell } from '../shell.ts';
import { limitOption } from './list-page.ts';

const EXAMPLES = `
Example:
  $ npm run -s crownwheel -- jobs list --organization org_…

A change of currency, markup, rounding, image format, rate, address or name alters every document of a channel, and so
does a roll to another API version. The service carries it into them in the background, as a job that survives a
restart.`;

/** Mass changes and how far they are. */
export function addJobs(program: Command, shell: Shell): void {
  const noun = program
    .command('jobs')
    .description('mass changes of documents, and how far they are')
    .addHelpText('after', EXAMPLES);

  const list = noun
    .command('list')
    .description("show the newest jobs of a dealer's channels")
    .requiredOption('--organization <id>', 'the dealer, org_…')
    .addOption(limitOption())
    .addHelpText('after', EXAMPLES);
  shell.run(list, async ({ organization, limit }: { organization: string; limit: number }) => {
    const jobs = await shell.withDatabase(async (db) => {
      await assertOrganization(db, organization);
      return await listJobs(db, organization, limit + 1);
    });
    const shown = jobs.slice(0, limit);
    return {
      json: { object: 'list', data: shown.map(jobJson), has_more: jobs.length > shown.length },
      text: shown.length === 0 ? 'No jobs: nothing was changed on a mass of documents.' : jobTable(shown),
    };
  });
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

function jobTable(jobs: Job[]): string {
  return table(
    ['ID', 'INTEGRATION', 'KIND', 'STATUS', 'DOCUMENTS', 'BECAUSE OF'],
    jobs.map((job) => [
      job.id,
      job.integrationId,
      job.kind,
      job.error === null ? job.status : `${job.status}: ${job.error}`,
      progressOf(job),
      job.reasons.join('; '),
    ]),
  );
}

/** The total was counted when the job was asked for; documents may have come and gone since. */
function progressOf({ status, done, total }: Job): string {
  if (status === 'done') return `${done}, all`;
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100));
  return `${done} of ${Math.max(done, total)} (${percent} %)`;
}
