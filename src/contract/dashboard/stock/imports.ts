import Type from 'typebox';
import { BYTES_PER_MB } from '../../limits.ts';
import { IMPORT_FILE_LIMIT_MB, IMPORT_ZIP_LIMIT_MB } from '../limits.ts';
import { operation } from '../operation.ts';
import { StartedJob } from '../schema-parts.ts';
import { Kind, stockFilters } from './stock.ts';

const NAME_LENGTH_LIMIT = 200;
const COLUMNS_LIMIT = 200;

const OptionalText = Type.Union([Type.String(), Type.Null()]);

export const ImportFile = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    kind: Kind,
    line_count: Type.Integer(),
    headings: Type.Array(
      Type.Object({
        heading: Type.String(),
        samples: Type.Array(Type.String(), { description: 'Cells of the first lines that have any.' }),
      }),
    ),
    mapping: Type.Array(Type.String(), {
      description: 'For each heading the column it means: as the last time, or guessed; empty for none.',
    }),
    columns: Type.Array(Type.Object({ name: Type.String(), label: Type.String() }), {
      description: 'What a heading can mean.',
    }),
    zip_name: OptionalText,
    kept_until: Type.String({ format: 'date-time' }),
  },
  { $id: 'ImportFile' },
);

const FileId = Type.Object({ file_id: Type.String() });
const Mapping = Type.Object({
  mapping: Type.Array(Type.String({ maxLength: 50 }), { maxItems: COLUMNS_LIMIT }),
});

export const importOperations = {
  uploadImport: operation({
    method: 'POST',
    path: '/imports',
    access: 'staff',
    description: 'Uploads a CSV file of stock. It is read and kept for some days; nothing is imported yet.',
    query: Type.Object({ kind: Kind, name: Type.Optional(Type.String({ maxLength: NAME_LENGTH_LIMIT })) }),
    isUpload: true,
    bodyLimitBytes: IMPORT_FILE_LIMIT_MB * BYTES_PER_MB,
    response: Type.Object({ file_id: Type.String() }),
  }),
  getImport: operation({
    method: 'GET',
    path: '/imports/{file_id}',
    access: 'staff',
    description: 'An uploaded file: its headings, what they seem to mean, and some of its cells.',
    params: FileId,
    response: ImportFile,
  }),
  uploadImportPhotos: operation({
    method: 'POST',
    path: '/imports/{file_id}/photos',
    access: 'staff',
    description:
      'Uploads a zip with photos beside a file: named by stock number, in folders of stock numbers, or named in the column photos. Refused with `wrong_status` while an import of the file waits or runs, and with `changed_meanwhile` if another zip for the same file is uploaded meanwhile.',
    params: FileId,
    query: Type.Object({ name: Type.Optional(Type.String({ maxLength: NAME_LENGTH_LIMIT })) }),
    isUpload: true,
    bodyLimitBytes: IMPORT_ZIP_LIMIT_MB * BYTES_PER_MB,
    response: Type.Object({ photo_count: Type.Integer() }),
  }),
  checkImport: operation({
    method: 'POST',
    path: '/imports/{file_id}/check',
    access: 'staff',
    description: 'Starts a job that says of every line what would become of it. Nothing is changed.',
    params: FileId,
    body: Mapping,
    response: StartedJob,
  }),
  startImport: operation({
    method: 'POST',
    path: '/imports/{file_id}/run',
    access: 'staff',
    description: 'Starts a job that imports the lines that are right.',
    params: FileId,
    body: Mapping,
    response: StartedJob,
  }),
  exportStock: operation({
    method: 'GET',
    path: '/stock/export.csv',
    access: 'staff',
    description: 'Watches or parts that a filter matches, as a CSV file that can be imported again.',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })), ...stockFilters }),
    response: 'text/csv',
  }),
};
