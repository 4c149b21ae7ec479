import { copyFile, readFile, stat, truncate } from 'node:fs/promises';

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
