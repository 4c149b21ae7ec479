import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ListPage } from '../../dealers/organizations.ts';
import type { CommandOutput } from '../shell.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

/** The options of every list: how many, and from where on. */
export function pageOptions(command: Command): Command {
  return command
    .addOption(limitOption())
    .option('--after <id>', 'only those after this id (lists are ordered by id, oldest first)');
}

export function limitOption(): Option {
  return new Option('--limit <n>', `how many to show, 1 to ${LIMIT_MAX}`).default(LIMIT_DEFAULT).argParser(parseLimit);
}

/** Reads one row more than is shown, to know whether more are there. */
export async function listPage<Row extends { id: string }>(
  options: ListPage,
  read: (page: ListPage) => Promise<Row[]>,
  present: { json: (row: Row) => Record<string, unknown>; text: (rows: Row[]) => string; none: string },
): Promise<CommandOutput> {
  const rows = await read({ ...options, limit: options.limit + 1 });
  const page = rows.slice(0, options.limit);
  const hasMore = rows.length > page.length;
  const more = hasMore ? `\nThere are more: add --after ${page.at(-1)?.id}` : '';
  return {
    json: { object: 'list', data: page.map(present.json), has_more: hasMore },
    text: page.length === 0 ? present.none : `${present.text(page)}${more}`,
  };
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIMIT_MAX}.`);
}
