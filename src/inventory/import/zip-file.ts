import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { DomainError } from '../../contract/domain-error.ts';
import { BYTES_PER_MB } from '../../contract/limits.ts';
import { storableText } from '../csv/csv-file.ts';

/** Reads some bytes of a file, wherever it is stored. */
export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

export type ZipEntry = { name: string; method: number; packedBytes: number; bytes: number; headerAt: number };

/** The list of a zip's files is kept in memory, and so is a file that is unpacked. */
export const ZIP_ENTRIES_LIMIT = 10_000;
export const DIRECTORY_LIMIT_BYTES = 4 * 1_048_576;
const NAME_LENGTH_LIMIT = 500;

const END_BYTES = 22;
/** The end may be followed by a comment. */
const COMMENT_LIMIT_BYTES = 65_535;
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED_FLAG = 1;

const inflate = promisify(inflateRaw);

/**
 * The files in a zip, by its directory at the end. Names are only ever compared, never used as a path. What the directory
 * says is not trusted: every read stays within the file, and unpacking stops at the limit.
 */
export async function listZip(read: ReadBytes, size: number): Promise<ZipEntry[]> {
  const { count, directoryAt, directoryBytes } = await findEnd(read, size);
  if (count > ZIP_ENTRIES_LIMIT)
    throw invalid(`The zip has more than ${ZIP_ENTRIES_LIMIT} files. Split it into several.`);
  if (directoryBytes > DIRECTORY_LIMIT_BYTES || directoryAt + directoryBytes > size) throw broken();
  const entries = readDirectory(await read(directoryAt, directoryBytes), count);
  // Entries that overlap can make gigabytes of files from one photo. No real zip program writes them.
  const packedBytes = entries.reduce((sum, entry) => sum + entry.packedBytes, 0);
  if (packedBytes > size) throw broken();
  return entries;
}

/** The entries of a directory, as many as its end says. */
export function readDirectory(directory: Buffer, count: number): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; entries.length < count; ) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE) throw broken();
    const flags = directory.readUInt16LE(at + 8);
    if ((flags & ENCRYPTED_FLAG) !== 0) throw invalid('The zip is encrypted. Save it without a password.');
    const nameBytes = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    entries.push({
      name: storableText(name).slice(0, NAME_LENGTH_LIMIT),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      headerAt: directory.readUInt32LE(at + 42),
    });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

/** Unpacks one file. The size in the directory of a zip bomb is a lie, so the limit is checked while unpacking. */
export async function readZipEntry(
  read: ReadBytes,
  size: number,
  entry: ZipEntry,
  limitBytes: number,
): Promise<Buffer> {
  if (entry.bytes > limitBytes || entry.packedBytes > limitBytes) throw tooLarge(entry, limitBytes);
  if (entry.headerAt + LOCAL_BYTES > size) throw broken();
  const header = await read(entry.headerAt, LOCAL_BYTES);
  if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) throw broken();
  const start = entry.headerAt + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + entry.packedBytes > size) throw broken();
  const packed = await read(start, entry.packedBytes);
  if (entry.method === STORED) return packed;
  if (entry.method !== DEFLATED) throw invalid(`${entry.name} is packed in a way that can't be read.`);
  try {
    return (await inflate(packed, { maxOutputLength: limitBytes })) as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(entry, limitBytes);
    throw broken();
  }
}

async function findEnd(read: ReadBytes, size: number) {
  const tailBytes = Math.min(size, END_BYTES + COMMENT_LIMIT_BYTES);
  const tail = await read(size - tailBytes, tailBytes);
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE) continue;
    return {
      count: tail.readUInt16LE(at + 10),
      directoryBytes: tail.readUInt32LE(at + 12),
      directoryAt: tail.readUInt32LE(at + 16),
    };
  }
  throw broken();
}

function tooLarge({ name }: ZipEntry, limitBytes: number): DomainError {
  return invalid(`${name} has more than ${limitBytes / BYTES_PER_MB} MB.`);
}

function broken(): DomainError {
  return invalid('This is not a zip file, or it is damaged.');
}

function invalid(message: string): DomainError {
  return new DomainError('invalid_input', message, 'zip');
}
