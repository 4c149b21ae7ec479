import { LRUCache } from 'lru-cache';
import { DomainError } from '../../contract/domain-error.ts';
import { PHOTO_LIMIT_BYTES } from '../../contract/limits.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { RunningJob } from '../jobs/job-kind.ts';
import { findImportFile, type ImportFile } from './import-files.ts';
import { listZip, type ReadBytes, readZipEntry, type ZipEntry } from './zip-file.ts';

/** How many bytes one row of the database holds. */
export const ZIP_PIECE_BYTES = 1_048_576;

/** The zip with photos beside an import's file. */
export type PhotoZip = {
  /** Files that belong to a stock number by their name or folder, in the order of their names. */
  namesFor(stockNumber: string): Promise<string[]>;
  read(name: string): Promise<Buffer>;
};

const PICTURE = /\.(jpe?g|png|webp|avif)$/i;
/** W-1042-2.jpg is the second photo of W-1042. */
const NUMBERED = /[ _-]\(?\d{1,3}\)?$/;
/** Names that agree so far keep their order in the zip. */
const COMPARED_LENGTH = 200;
const DIGITS = 12;

/** Of jobs that run now. Nobody can replace a zip meanwhile. */
const OPEN_ZIPS = 8;
const OPEN_MS = 60_000;
const openZips = new LRUCache<string, Promise<PhotoZip | null>>({ max: OPEN_ZIPS, ttl: OPEN_MS, updateAgeOnGet: true });

/** The zip of a job, which is opened once for many batches: to list ten thousand files takes a tenth of a second. */
export async function openPhotoZip(db: Queryable, job: ZipJob): Promise<PhotoZip | null> {
  const known = openZips.get(job.id);
  if (known !== undefined) return await known;
  const opening = listPhotos(db, job);
  openZips.set(job.id, opening);
  opening.catch(() => openZips.delete(job.id));
  return await opening;
}

type ZipJob = Pick<RunningJob, 'id' | 'organizationId' | 'parameters'>;

async function listPhotos(db: Queryable, { organizationId, parameters }: ZipJob): Promise<PhotoZip | null> {
  const file = await findImportFile(db, organizationId, String(parameters.fileId));
  if (file.zipBytes === null) return null;
  const size = file.zipBytes;
  const read = readerOf(db, file);
  const entries = (await listZip(read, size)).filter(({ name }) => PICTURE.test(name));
  // The first of several with the same name counts.
  const byFullName = new Map(entries.toReversed().map((entry) => [entry.name, entry]));
  const byBase = new Map(entries.toReversed().map((entry) => [baseOf(entry.name), entry]));
  const byNumber = groupByStockNumber(entries, await stockNumbersAmong(db, file, entries));
  return {
    namesFor: async (stockNumber) => byNumber.get(stockNumber.toLowerCase()) ?? [],
    async read(name) {
      const entry = byFullName.get(name) ?? byBase.get(name);
      if (entry === undefined) throw new DomainError('invalid_input', `${name} is not in the zip.`, 'photos');
      return await readZipEntry(read, size, entry, PHOTO_LIMIT_BYTES);
    },
  };
}

/** Checks that a zip can be read at all, so that the person who uploads it learns at once if it can't. */
export async function assertPhotoZip(db: Queryable, file: ImportFile): Promise<number> {
  const entries = await listZip(readerOf(db, file), file.zipBytes ?? 0);
  const pictures = entries.filter(({ name }) => PICTURE.test(name)).length;
  if (pictures === 0) {
    throw new DomainError('invalid_input', 'The zip has no photos: JPEG, PNG, WebP or AVIF.', 'zip');
  }
  return pictures;
}

/** By the folder, by the whole name, or by the name without its number. A whole name that is a stock number counts first. */
function groupByStockNumber(entries: ZipEntry[], stockNumbers: Set<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name } of inOrderOfNames(entries)) {
    const base = baseOf(name).replace(PICTURE, '').toLowerCase();
    const folder = name.split('/').at(-2)?.toLowerCase();
    const candidates = [base, base.replace(NUMBERED, ''), folder ?? ''];
    const key = candidates.find((one) => stockNumbers.has(one));
    if (key === undefined) continue;
    const names = found.get(key);
    if (names === undefined) found.set(key, [name]);
    else names.push(name);
  }
  return found;
}

/**
 * W-2.jpg stands before W-10.jpg. By keys that are made once and compared by their code units: the rules of a language took 16 s
 * for 4,000 names that were made for it.
 */
export function inOrderOfNames<Named extends { name: string }>(entries: Named[]): Named[] {
  const keyed = entries.map((entry) => ({ entry, key: orderKey(entry.name) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return keyed.map(({ entry }) => entry);
}

function orderKey(name: string): string {
  const compared = name.slice(0, COMPARED_LENGTH).toLowerCase();
  return compared.replaceAll(/\d{1,12}/g, (digits) => digits.padStart(DIGITS, '0'));
}

function baseOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}

/** Which of the names are stock numbers of the file, in small letters. */
async function stockNumbersAmong(db: Queryable, file: ImportFile, entries: ZipEntry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const rows = await db.query<{ stockNumber: string }>(sql`
    select distinct stock_number as "stockNumber" from stock_file_lines
    where file_id = ${file.id} and stock_number is not null`);
  return new Set(rows.map((row) => row.stockNumber.toLowerCase()));
}

function readerOf(db: Queryable, { id }: ImportFile): ReadBytes {
  return async (start, length) => {
    const first = Math.floor(start / ZIP_PIECE_BYTES);
    const last = Math.floor((start + Math.max(length, 1) - 1) / ZIP_PIECE_BYTES);
    // Only what is asked for: most files are much smaller than a piece.
    const rows = await db.query<{ bytes: Buffer }>(sql`
      select substring(bytes from skipped + 1 for taken - skipped) as bytes
      from stock_file_pieces p, lateral (select
        greatest(${start} - number::bigint * ${ZIP_PIECE_BYTES}, 0)::integer as skipped,
        least(${start + length} - number::bigint * ${ZIP_PIECE_BYTES}, ${ZIP_PIECE_BYTES})::integer as taken) part
      where p.file_id = ${id} and p.number between ${first} and ${last}
      order by number`);
    const part = Buffer.concat(rows.map((row) => row.bytes));
    if (part.length < length) throw new DomainError('invalid_input', 'The zip is damaged: it is cut off.', 'zip');
    return part;
  };
}
