import { ApiError } from '../../../contract/errors.ts';
import { READ_IDS_LIMIT } from '../../../contract/limits.ts';

/** The query of a list that is read by `ids`. */
export type IdsQuery = {
  ids?: string;
  limit?: number;
  after?: string;
  updated_after?: string;
  status?: string;
};

const EXCLUDED = ['limit', 'after', 'updated_after', 'status'] as const;

/** Refuses a query that names ids and anything else that decides what is listed. */
export function assertIdsAlone(query: IdsQuery): void {
  const other = EXCLUDED.find((name) => query[name] !== undefined);
  if (other !== undefined)
    throw refused(`ids can't be combined with ${other}: it reads exactly the ids that it names.`);
}

/** The ids in the order asked, each once. What is no id at all stays among them: it will be missing. */
export function readIds(text: string): string[] {
  const ids = new Set(text.split(',').map((id) => id.trim()));
  ids.delete('');
  if (ids.size === 0) throw refused(`ids must name 1 to ${READ_IDS_LIMIT} ids, separated by commas; it names none.`);
  if (ids.size > READ_IDS_LIMIT) {
    throw refused(`ids must name at most ${READ_IDS_LIMIT} ids, separated by commas; it names ${ids.size}.`);
  }
  return [...ids];
}

function refused(message: string): ApiError {
  return new ApiError('invalid_request', { param: 'ids', message });
}
