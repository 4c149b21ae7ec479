import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export type ImportFile = Output<'GET /imports/{file_id}'>;

/** What was guessed or remembered must not change under the person who is correcting it. */
export function importQuery(fileId: string) {
  return {
    ...read('GET /imports/{file_id}', { params: { file_id: fileId } }, []),
    staleTime: Number.POSITIVE_INFINITY,
  };
}
