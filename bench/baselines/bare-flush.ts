import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long the disk alone takes for what a commit waits for: writes 8 KiB to a file and flushes it, at an even rate.
 *
 * Runs as a process of its own: node bench/baselines/bare-flush.ts <file> <per second> <seconds>; prints the times in
 * milliseconds as one line of JSON.
 */
const [path = '', perSecond = '', seconds = ''] = process.argv.slice(2);
const PAGE = Buffer.alloc(8_192, 'x');
/** Like the log of the server, a file that has its size already: flushing writes no metadata. */
const FILE_PAGES = 2_048;

const file = openSync(path, 'w');
for (let page = 0; page < FILE_PAGES; page++) writeSync(file, PAGE);
fdatasyncSync(file);

const times: number[] = [];
const beganMs = performance.now();
const count = Number(perSecond) * Number(seconds);
for (let index = 0; index < count; index++) {
  await sleep(Math.max(0, beganMs + (index * 1_000) / Number(perSecond) - performance.now()));
  const startedMs = performance.now();
  writeSync(file, PAGE, 0, PAGE.length, (index % FILE_PAGES) * PAGE.length);
  fdatasyncSync(file);
  times.push(performance.now() - startedMs);
}
closeSync(file);
console.log(JSON.stringify(times));
