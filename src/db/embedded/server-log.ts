import { copyFile, readFile, stat, statfs, truncate } from 'node:fs/promises';

/** The log of the embedded server: one file, and one older one beside it. */
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * Moves a log that has grown too large into the older file; returns the offset at which new lines will begin. The
 * server keeps the file open for as long as it runs, so the file is emptied instead of renamed. It appends, so it goes
 * on at the start.
 */
export async function rotateLog(file: string, limitBytes = LOG_LIMIT_BYTES): Promise<number> {
  const size = await stat(file).then(
    (entry) => entry.size,
    () => 0,
  );
  if (size <= limitBytes) return size;
  // Without room for the copy the log is emptied all the same: it must not fill the disk.
  await copyFile(file, `${file}.1`).catch(() => {});
  await truncate(file, 0);
  return 0;
}

/** The last line that the server logged from the given offset on; its fatal line, if there is one. */
export async function lastLineSince(file: string, start: number): Promise<string> {
  const text = (await readFile(file).catch(() => Buffer.alloc(0))).subarray(start).toString();
  const lines = text.trim().split('\n');
  const fatal = lines.findLastIndex((line) => /FATAL|PANIC/.test(line));
  return lines
    .slice(fatal === -1 ? -1 : fatal, fatal === -1 ? undefined : fatal + 2)
    .map((line) => line.replace(/^.*?(FATAL|PANIC|DETAIL|HINT|CONTEXT):\s+/, ''))
    .join('; ');
}

/** PostgreSQL needs room for another segment of its log, of 16 MiB. */
const ROOM_MIN_BYTES = 16 * 1_048_576;

/**
 * Why a server ended, by its last line and what its disk has left. A full disk often keeps it from writing even that line; then
 * it would seem that it said nothing.
 */
export function reasonOfEnd(lastLine: string, freeBytes: number | null): string {
  if (!endedByFullDisk(lastLine, freeBytes)) return lastLine || 'it said nothing';
  return `the disk of DATA_DIR is full; free some space${lastLine === '' ? '' : ` (${lastLine})`}`;
}

export function endedByFullDisk(lastLine: string, freeBytes: number | null): boolean {
  return /No space left on device/.test(lastLine) || (freeBytes !== null && freeBytes < ROOM_MIN_BYTES);
}

/** Null where the disk can't be asked. */
export async function freeBytesOf(folder: string): Promise<number | null> {
  return await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}
