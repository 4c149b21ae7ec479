import { Readable } from 'node:stream';
import { IMPORT_FILE_LIMIT_MB } from '../../../../contract/dashboard/limits.ts';
import type { importOperations } from '../../../../contract/dashboard/stock/imports.ts';
import { DAY_MS } from '../../../../contract/timestamps.ts';
import { CSV_BYTES_LIMIT } from '../../../../inventory/csv/csv-file.ts';
import { exportStock } from '../../../../inventory/csv/stock-export.ts';
import { columnsOf, costHeadings, suggestMapping } from '../../../../inventory/import/column-mapping.ts';
import {
  findReadableFile,
  IMPORT_FILE_KEPT_DAYS,
  type ImportFile,
  readSampleCells,
  recallMapping,
  storeImportFile,
} from '../../../../inventory/import/import-files.ts';
import { startImport } from '../../../../inventory/import/start-import.ts';
import { storeZip, ZIP_LIMIT_BYTES, ZIP_TOO_LARGE } from '../../../../inventory/import/store-zip.ts';
import type { Call, Handlers } from '../../call.ts';
import { pacedPieces } from '../../limits/file-pace.ts';
import { asUpload, type UploadLimit, withUpload } from '../../limits/upload.ts';
import { notifyOfJob } from './jobs.ts';
import { filterOf } from './stock.ts';

/** How many lines are searched for sample cells to show beside a heading. */
const SAMPLES_READ = { lines: 20, characters: 60 };
const SAMPLES_SHOWN = 3;

const CSV_UPLOAD: UploadLimit = {
  slots: 'imports',
  limitBytes: CSV_BYTES_LIMIT,
  tooLarge: `A CSV file may have at most ${IMPORT_FILE_LIMIT_MB} MB. Split it into several.`,
};

const ZIP_UPLOAD: UploadLimit = { slots: 'imports', limitBytes: ZIP_LIMIT_BYTES, tooLarge: ZIP_TOO_LARGE };

export const importHandlers: Handlers<typeof importOperations> = {
  async uploadImport({ context, user, query, request, assertAdmitted }) {
    const { kind, name = 'stock.csv' } = query;
    const id = await withUpload(
      { request, user, context, assertAdmitted },
      (bytes) => storeImportFile(context.db, user.organizationId, { name, kind, bytes, uploadedBy: user.userId }),
      CSV_UPLOAD,
    );
    return { file_id: id };
  },

  async getImport({ context, user, params }) {
    const { currency, seesCost: mayCost } = user;
    const file = await findReadableFile(context.db, user, params.file_id);
    const hidden = mayCost ? [] : costHeadings(file, (await recallMapping(context.db, file)) ?? []);
    const lines = await readSampleCells(context.db, file.id, SAMPLES_READ);
    return {
      id: file.id,
      name: file.name,
      kind: file.kind,
      line_count: file.lineCount,
      headings: file.header.map((heading, index) => ({
        heading,
        samples: hidden.includes(index) ? [] : samplesOf(lines.map((cells) => cells[index] ?? '')),
      })),
      mapping: await suggestMapping(context.db, file, currency, mayCost),
      columns: columnsOf(file, currency, mayCost).map(({ name, label }) => ({ name, label })),
      zip_name: file.zipName,
      kept_until: keptUntil(file).toISOString(),
    };
  },

  async uploadImportPhotos({ context, user, params, query, request, assertAdmitted }) {
    await findReadableFile(context.db, user, params.file_id);
    const { name = 'photos.zip' } = query;
    const store = (chunks: AsyncIterable<Buffer>) =>
      storeZip(context.db, user.organizationId, params.file_id, name, chunks);
    return { photo_count: await asUpload({ request, user, context, assertAdmitted }, store, ZIP_UPLOAD) };
  },

  checkImport: (call) => start(call, true),
  startImport: (call) => start(call, false),

  async exportStock({ context, user, query, reply }) {
    const lines = exportStock(context.db, filterOf(user, query), {
      seesCost: user.seesCost,
      publicUrl: context.publicUrl,
      now: context.channel.now(),
    });
    const name = query.kind === 'part' ? 'parts' : 'watches';
    return await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}.csv"`)
      .send(Readable.from(pacedPieces(user.organizationId, lines)));
  },
};

type StartCall = Call<(typeof importOperations)['startImport']>;

async function start(call: StartCall, isCheck: boolean): Promise<{ job_id: string }> {
  const { context, user, actor, params, body } = call;
  const jobId = await startImport(context.db, actor, {
    organizationId: user.organizationId,
    fileId: params.file_id,
    mapping: body.mapping,
    isCheck,
    userId: user.userId,
    seesCost: user.seesCost,
  });
  notifyOfJob(call, jobId);
  return { job_id: jobId };
}

function keptUntil({ createdAt }: ImportFile): Date {
  return new Date(createdAt.getTime() + IMPORT_FILE_KEPT_DAYS * DAY_MS);
}

function samplesOf(cells: string[]): string[] {
  const filled = [...new Set(cells.map((cell) => cell.trim()).filter((cell) => cell !== ''))];
  return filled.slice(0, SAMPLES_SHOWN);
}
