import { type Command, InvalidArgumentError } from 'commander';
import { COMMAND_LINE } from '../../../audit/actor.ts';
import { DomainError } from '../../../contract/domain-error.ts';
import { EVENT_TYPES } from '../../../contract/event-types.ts';
import { parseTimestamp } from '../../../contract/timestamps.ts';
import {
  cancelReplay,
  countReplay,
  listReplays,
  REPLAYABLE_STATUSES,
  type ReplayableStatus,
  type ReplayFilter,
  type ReplayJob,
  startReplay,
} from '../../../webhooks/delivery-queue/replay.ts';
import { table } from '../../plain-text.ts';
import type { Shell } from '../../shell.ts';
import { oneOrMore } from '../option-values.ts';
import { endpointOf, joinLines, notSentNote, sendingJson } from './endpoint-text.ts';

const LIST_LIMIT = 50;

const EXAMPLES = `
Examples:
  $ npm run -s crownwheel -- replays start int_… --status dead_letter
  $ npm run -s crownwheel -- replays start int_… --since 2026-05-01 --type listing.sold --yes
  $ npm run -s crownwheel -- replays list int_…
  $ npm run -s crownwheel -- replays cancel int_… job_…`;

type Options = { since?: Date; until?: Date; type?: string[]; status?: ReplayableStatus[]; yes?: boolean };

/** Many deliveries sent again, slower than live ones. */
export function addReplays(program: Command, shell: Shell): void {
  const noun = program.command('replays').description('send many webhooks again').addHelpText('after', EXAMPLES);

  const start = noun
    .command('start')
    .description('count the deliveries that match; with --yes, send them again')
    .argument('<integration>', 'the integration, int_…')
    .option('--since <time>', 'made at this time or later (ISO 8601)', timestamp)
    .option('--until <time>', 'made before this time (ISO 8601)', timestamp)
    .option('--type <names>', 'event names, or wildcards such as "listing.*", separated by commas', eventTypes)
    .option(
      '--status <names>',
      `of ${REPLAYABLE_STATUSES.join(', ')}; failed and dead_letter by default`,
      oneOrMore(REPLAYABLE_STATUSES),
    )
    .option('--yes', 'start the replay')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- replays start int_… --status dead_letter --yes');
  shell.run(start, async (integrationId: string, options: Options) =>
    shell.withDatabase(async (db) => {
      const filter: ReplayFilter = {
        since: options.since ?? null,
        until: options.until ?? null,
        types: options.type ?? null,
        statuses: options.status ?? ['failed', 'dead_letter'],
      };
      const { since, until } = filter;
      if (since !== null && until !== null && since >= until) {
        throw new DomainError('invalid_input', 'Nothing can match: --since must be before --until.');
      }
      const state = await endpointOf(db, integrationId);
      if (options.yes !== true) {
        const count = await countReplay(db, integrationId, filter);
        return {
          json: { object: 'replay_count', count, ...sendingJson(state) },
          text: joinLines(`${count} deliveries match; add --yes to send them again.`, notSentNote(state)),
        };
      }
      const job = await startReplay(db, COMMAND_LINE, integrationId, filter);
      return {
        json: { ...jobJson(job), ...sendingJson(state) },
        text: joinLines(`${job.id} sends ${job.total} deliveries again, while a worker runs.`, notSentNote(state)),
      };
    }),
  );

  const list = noun
    .command('list')
    .description('list the newest replays and their progress')
    .argument('<integration>', 'the integration, int_…')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- replays list int_… --json');
  shell.run(list, async (integrationId: string) =>
    shell.withDatabase(async (db) => {
      await endpointOf(db, integrationId);
      const jobs = await listReplays(db, integrationId, LIST_LIMIT);
      const rows = jobs.map((job) => [job.id, job.status, progressText(job), job.createdAt.toISOString()]);
      return {
        json: { object: 'list', data: jobs.map(jobJson) },
        text: jobs.length === 0 ? 'No replays yet.' : table(['REPLAY', 'STATUS', 'DONE', 'STARTED'], rows),
      };
    }),
  );

  const cancel = noun
    .command('cancel')
    .description('stop a replay; deliveries that it has queued are still sent')
    .argument('<integration>', 'the integration, int_…')
    .argument('<replay>', 'the replay, job_…')
    .addHelpText('after', '\nExample:\n  $ npm run -s crownwheel -- replays cancel int_… job_…');
  shell.run(cancel, async (integrationId: string, jobId: string) =>
    shell.withDatabase(async (db) => {
      await endpointOf(db, integrationId);
      if (!(await cancelReplay(db, COMMAND_LINE, integrationId, jobId))) {
        const name = JSON.stringify(jobId);
        throw new DomainError('not_found', `There is no running replay ${name} of this integration.`);
      }
      return { json: { object: 'replay', id: jobId, status: 'cancelled' }, text: `${jobId} is cancelled.` };
    }),
  );
}

function timestamp(text: string): Date {
  try {
    return new Date(parseTimestamp(text, 'The time'));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** What a subscription may name, as far as anything is sent under it. */
function eventTypes(text: string): string[] {
  const all = Object.keys(EVENT_TYPES);
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !all.some((type) => isNamed(type, name)));
  if (unknown === undefined) return all.filter((type) => names.some((name) => isNamed(type, name)));
  throw new InvalidArgumentError(`It must name some of ${all.join(', ')}, or a wildcard such as listing.*.`);
}

function isNamed(type: string, name: string): boolean {
  return name === '*' || name === type || name === `${type.split('.', 1)[0]}.*`;
}

/** One that was sent or replayed in the meantime, or pruned, is not sent again. */
function progressText({ done, skipped, total }: ReplayJob): string {
  return skipped === 0 ? `${done} of ${total}` : `${done} of ${total}, ${skipped} skipped`;
}

function jobJson(job: ReplayJob): Record<string, unknown> {
  return {
    object: 'replay',
    id: job.id,
    status: job.status,
    done: job.done,
    skipped: job.skipped,
    total: job.total,
    created_at: job.createdAt.toISOString(),
  };
}
