import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into the service before its own code: measures how long something that arrives waits for its turn in the event
 * loop. With SIGUSR2 it writes what it measured since the last time to the file that LOOP_DELAY_FILE names.
 */
export type LoopDelay = { p50Ms: number; p99Ms: number };

const RESOLUTION_MS = 1;
const file = process.env.LOOP_DELAY_FILE;

if (file !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  // The histogram counts the timer's own wait, too.
  const milliseconds = (percentile: number) => Math.max(0, histogram.percentile(percentile) / 1e6 - RESOLUTION_MS);
  process.on('SIGUSR2', () => {
    const delay: LoopDelay = { p50Ms: milliseconds(50), p99Ms: milliseconds(99) };
    histogram.reset();
    writeFileSync(file, JSON.stringify(delay));
  });
}
