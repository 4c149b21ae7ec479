import { constants, setPriority } from 'node:os';
import { BYTES_PER_MB } from '../../../contract/limits.ts';
import type { Answer, Conversion, ConversionLimits, Job } from './conversion-messages.ts';
import { framesOf, writeFrame } from './frames.ts';

/** Memory grows by about 1 GB a second at most. */
const WATCH_MS = 50;
/** What a large picture leaves behind would count for the next one, so a process that has more starts anew. */
const KEPT_BYTES_MAX = 256 * BYTES_PER_MB;

/**
 * The process of pictures: it reads a job from its standard input and writes what became of it to its standard output. It ends
 * with its input, so when the service that started it is gone, and ignores the signals that a terminal and systemd send to all.
 * Requests go before pictures, so its priority is low. Threads have the priority that it had when they were made, so sharp is
 * loaded behind this.
 */
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => {});
// Nobody waits for the picture any more.
process.stdout.on('error', endAtOnce);
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const { convert } = await import('./conversions.ts');
let isBusy = false;

try {
  for await (const { head, bytes } of framesOf<Job>(process.stdin)) void run(head, bytes);
} finally {
  if (isBusy) endAtOnce();
}

async function run({ conversion, limits }: Job, given: Buffer): Promise<void> {
  isBusy = true;
  const watch = watchOver(limits);
  const { head, bytes } = await answerTo(conversion, given);
  clearInterval(watch);
  isBusy = false;
  const isLast = process.memoryUsage.rss() > KEPT_BYTES_MAX;
  writeFrame(process.stdout, { ...head, isLast } satisfies Answer, bytes);
}

async function answerTo(conversion: Conversion, given: Buffer) {
  try {
    const { bytes, width, height } = await convert(conversion, given);
    return { head: { size: { width, height } }, bytes };
  } catch (error) {
    return { head: { fault: error instanceof Error ? error.message : String(error) }, bytes: new Uint8Array() };
  }
}

/** The decoder works in other threads and can't be stopped, so a picture that takes too much ends the whole process. */
function watchOver({ residentBytes, cpuMs }: ConversionLimits): NodeJS.Timeout {
  const before = process.cpuUsage();
  return setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    if (process.memoryUsage.rss() <= residentBytes && (user + system) / 1_000 <= cpuMs) return;
    writeFrame(process.stdout, { isTooMuch: true } satisfies Answer, new Uint8Array());
    process.stdout.write('', endAtOnce);
  }, WATCH_MS);
}

/** An ordinary exit waits for the threads, that is for a picture that nobody wants. */
function endAtOnce(): void {
  if (!isBusy) process.exit();
  process.kill(process.pid, 'SIGKILL');
}
