import type { Actor } from '../../audit/actor.ts';
import type { Database } from '../../db/database.ts';
import { currencyOf } from '../../dealers/organization-settings.ts';
import { startJob } from '../jobs/stock-job-queue.ts';
import { assertMapping, type ColumnMapping, columnsOf } from './column-mapping.ts';
import { findReadableFile, rememberMapping } from './import-files.ts';
import type { ImportParameters } from './import-lines.ts';

export type ImportRequest = {
  organizationId: string;
  fileId: string;
  mapping: ColumnMapping;
  /** A check says of every line what would become of it, and changes nothing. */
  isCheck: boolean;
  /** The person who asks, if it is one. */
  userId?: string;
  /** Whether whoever asks may see and set cost prices. */
  seesCost: boolean;
};

/** Asks for the import of an uploaded file, or for its check. The columns are remembered for the next file with the same headings. */
export async function startImport(db: Database, actor: Actor, request: ImportRequest): Promise<string> {
  const { organizationId, mapping, isCheck, seesCost } = request;
  const file = await findReadableFile(db, request, request.fileId);
  const currency = (await currencyOf(db, organizationId)) ?? 'USD';
  assertMapping(file, mapping, columnsOf(file, currency, seesCost));
  await rememberMapping(db, file, mapping);
  const parameters: ImportParameters = {
    fileId: file.id,
    kind: file.kind,
    mapping,
    hasPhotos: mapping.includes('photos') || file.zipName !== null,
  };
  return await startJob(db, actor, {
    organizationId,
    kind: isCheck ? 'import_check' : 'import',
    title: `${isCheck ? 'Check of' : 'Import of'} ${file.name}`,
    parameters,
    isUndoable: !isCheck,
  });
}
