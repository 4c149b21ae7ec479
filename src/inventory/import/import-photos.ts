import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditedObject } from '../../audit/record-audit.ts';
import { countFitting, type PlannedItem } from '../../channel/projection/projection-budget.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { PHOTOS_PER_ITEM_LIMIT } from '../../contract/limits.ts';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../ids/new-id.ts';
import type { StockValues } from '../items/stock-values.ts';
import type { BatchOutcome, JobEntry, JobError, RunningJob, StockJobContext } from '../jobs/job-kind.ts';
import { prepareUpload, type ReadyPhoto, TooManyUploadsError } from '../photos/encode-photos.ts';
import { addStoredPhotos, knownSources, type StoredPhoto } from '../photos/photo-rows.ts';
import { EXTENSION_OF } from '../photos/photo-variants.ts';
import { openPhotoDownloads, type PhotoDownloads } from './download-photo.ts';
import { itemsOfLines, nextLines } from './import-lines.ts';
import { openPhotoZip, type PhotoZip } from './photo-zip.ts';
import type { PlannedLine } from './plan-line.ts';

/** The second part of an import: photos that its lines name, or that lie in the zip beside the file. */
export type PhotosWork = { lineCount: number; photos: StoredPhoto[]; errors: JobError[] };

const LINES_LIMIT = 50;
/** After this time a batch begins no further line, so that other dealers' jobs get their turn. */
const BATCH_MS = 10_000;
const PHOTO_TIMEOUT_MS = 10_000;
/** Each photo of up to 25 MB is in memory until it is stored. */
const DOWNLOADS_AT_ONCE = 4;
/** The limit for all photos of a line; those that are left become errors. */
const LINE_MS = 60_000;

/** Downloads or unpacks the photos of the next lines, encodes and stores them. Null after the last line. */
export async function nextPhotos(
  context: StockJobContext,
  job: RunningJob,
  after: number,
): Promise<JobEntry<PhotosWork>[] | null> {
  const next = await nextLines(context, job, after, LINES_LIMIT);
  if (next === null) return null;
  const items = await itemsOfLines(context.db, job.organizationId, next.lines);
  const itemOf = (line: PlannedLine) => (line.errors.length === 0 ? items.get(line.stockNumber) : undefined);
  const known = await knownSources(
    context.db,
    [...items.values()].map((item) => item.id),
  );
  const zip = await openPhotoZip(context.db, job);
  // Before anything is downloaded: what is too much for one transaction would be downloaded again.
  const count = await countFitting(
    context.db,
    next.lines.map((line) => plannedItem(itemOf(line), zip !== null || line.photos !== null)),
  );
  const downloads = openPhotoDownloads(context.guard, job.organizationId, PHOTO_TIMEOUT_MS);
  const entries: JobEntry<PhotosWork>[] = [];
  const startedMs = performance.now();
  try {
    for (const [index, line] of next.lines.slice(0, count).entries()) {
      if (index > 0 && performance.now() - startedMs > BATCH_MS) break;
      const work: PhotosWork = { lineCount: 1, photos: [], errors: [] };
      const item = itemOf(line);
      if (item !== undefined)
        await takePhotos({ context, dealer: job.organizationId, known, zip, downloads }, item, line, work);
      entries.push({ work, position: String(next.numbers[index]), item: plannedItem(item, work.photos.length > 0) });
    }
  } finally {
    await downloads.close();
  }
  return entries;
}

function plannedItem(item: StockValues | undefined, hasPhotos: boolean): PlannedItem | null {
  return item === undefined || !hasPhotos ? null : { itemId: item.id };
}

type Sources = {
  context: StockJobContext;
  dealer: string;
  known: Set<string>;
  zip: PhotoZip | null;
  downloads: PhotoDownloads;
};

async function takePhotos(sources: Sources, item: StockValues, line: PlannedLine, work: PhotosWork): Promise<void> {
  const { context, dealer, known, zip, downloads } = sources;
  const deadlineMs = performance.now() + LINE_MS;
  const names = [...(line.photos ?? []), ...(zip === null ? [] : await zip.namesFor(line.stockNumber))];
  const fresh = [...new Set(names)]
    .map((name) => ({ name, source: createHash('sha256').update(name).digest('hex') }))
    .filter(({ name, source }) => !known.has(`${item.id} ${source}`) && !isOwn(context.publicUrl, item, name));
  // This is decided before a file is stored, because a line or a zip may name thousands.
  const wanted = fresh.slice(0, Math.max(PHOTOS_PER_ITEM_LIMIT - item.photoIds.length, 0));
  const read = async (name: string) => {
    const leftMs = Math.min(PHOTO_TIMEOUT_MS, deadlineMs - performance.now());
    return /^https?:/i.test(name) ? await downloads.download(name, leftMs) : await fromZip(zip, name);
  };
  for (let start = 0; start < wanted.length; start += DOWNLOADS_AT_ONCE) {
    const some = wanted.slice(start, start + DOWNLOADS_AT_ONCE);
    const files = await Promise.allSettled(some.map(({ name }) => read(name)));
    for (const [index, { name, source }] of some.entries()) {
      try {
        const file = files[index];
        if (file?.status !== 'fulfilled') throw file?.reason;
        work.photos.push({ itemId: item.id, source, ...(await store(context, dealer, file.value)) });
      } catch (error) {
        work.errors.push(errorOf(error, name, item, line));
      }
    }
  }
  const leftOut = fresh.length - wanted.length;
  if (leftOut > 0) {
    const message = `An item has at most ${PHOTOS_PER_ITEM_LIMIT} photos: ${leftOut} of this line were left out.`;
    work.errors.push(errorOf(new DomainError('invalid_input', message, 'photos'), '', item, line));
  }
}

function errorOf(error: unknown, name: string, item: StockValues, line: PlannedLine): JobError {
  if (!(error instanceof DomainError)) throw error;
  return {
    line: line.line,
    stockNumber: line.stockNumber,
    itemId: item.id,
    field: 'photos',
    message: error.message.includes(name) ? error.message : `${name}: ${error.message}`,
  };
}

/** An export names the photos that the item has: they are here already. */
function isOwn(publicUrl: string, item: StockValues, name: string): boolean {
  return name.startsWith(`${publicUrl}/photos/`) && item.photoIds.some((id) => name.includes(id));
}

async function fromZip(zip: PhotoZip | null, name: string): Promise<Buffer> {
  if (zip === null) throw new DomainError('invalid_input', `${name} is no address, and there is no zip.`, 'photos');
  return await zip.read(name);
}

/** The file before its row, as for every photo; one whose row is not committed is swept away later. */
async function store(
  context: StockJobContext,
  dealer: string,
  upload: Buffer,
): Promise<Omit<StoredPhoto, 'itemId' | 'source'>> {
  const { bytes, format, width, height } = await prepareWhenFree(dealer, upload);
  const id = newId('photo');
  await context.photoFiles.write(id, `original.${EXTENSION_OF[format]}`, bytes);
  return { id, width, height, format };
}

/** Nobody waits for the answer of a job, so it waits longer than a person. */
const MEMORY_WAIT_MS = 60_000;
const PREPARE_LIMIT_MS = 15_000;
const PREPARE_PAUSE_MS = 500;

/** People's uploads come first. */
async function prepareWhenFree(dealer: string, upload: Buffer): Promise<ReadyPhoto> {
  const deadlineMs = performance.now() + PREPARE_LIMIT_MS;
  for (;;) {
    try {
      return await prepareUpload(dealer, upload, { waitMs: MEMORY_WAIT_MS });
    } catch (error) {
      if (!(error instanceof TooManyUploadsError)) throw error;
      if (performance.now() > deadlineMs) throw new DomainError('invalid_input', error.message, 'photos');
      await sleep(PREPARE_PAUSE_MS);
    }
  }
}

export async function addPhotos(
  tx: Transaction,
  context: StockJobContext,
  job: RunningJob,
  work: PhotosWork[],
): Promise<BatchOutcome> {
  const photos = work.flatMap((one) => one.photos);
  const errors = work.flatMap((one) => one.errors);
  const { added, touched } =
    photos.length === 0 ? { added: [], touched: [] } : await addStoredPhotos(tx, context, job.organizationId, photos);
  const byItem = Map.groupBy(added, ({ itemId }) => itemId);
  const changed = [...byItem].map(
    ([id, all]): AuditedObject => ({ id, old: {}, new: { photosAdded: all.map((photo) => photo.id) } }),
  );
  return {
    done: work.reduce((sum, { lineCount }) => sum + lineCount, 0),
    counts: { photos: added.length, photos_wrong: errors.length },
    changed,
    errors,
    touched,
  };
}
