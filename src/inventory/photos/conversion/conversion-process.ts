import { constants, setPriority } from 'node:os';
import type { Answer, Conversion, Job } from './conversion-messages.ts';
import { framesOf, writeFrame } from './frames.ts';

/**
 * The process of pictures: it reads jobs from its standard input and writes what became of them to its standard output. It ends
 * with its input, so when the service that started it is gone, and ignores the signals that a terminal and systemd send to all.
 * Requests go before pictures, so its priority is low. Threads have the priority that it had when they were made, so sharp is
 * loaded behind this.
 */
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => {});
// Nobody waits for the picture any more.
process.stdout.on('error', () => process.exit());
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const { convert } = await import('./conversions.ts');

for await (const { head, bytes } of framesOf<Job>(process.stdin)) void run(head, bytes);

async function run({ id, conversion }: Job, bytes: Buffer): Promise<void> {
  const answer = await answerTo(conversion, bytes);
  writeFrame(process.stdout, { id, ...answer.head } satisfies Answer, answer.bytes);
}

async function answerTo(conversion: Conversion, given: Buffer) {
  try {
    const { bytes, width, height } = await convert(conversion, given);
    return { head: { size: { width, height } }, bytes };
  } catch (error) {
    return { head: { fault: error instanceof Error ? error.message : String(error) }, bytes: new Uint8Array() };
  }
}
