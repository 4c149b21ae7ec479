import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into the attacked service by `--import`, so that the product needs no door for it: answers each message of the
 * program that started the service with what happened since the last one. When that program ends, so does the service.
 */
export type Sample = {
  /** The longest time that the event loop did nothing else. */
  pauseMs: number;
  rssBytes: number;
  peakRssBytes: number;
  cpuMs: number;
};

const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;

if (process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let peakRssBytes = process.memoryUsage.rss();
  setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
  }, MEMORY_EVERY_MS).unref();

  process.on('message', () => {
    const rssBytes = process.memoryUsage.rss();
    const { user, system } = process.cpuUsage();
    const sample: Sample = {
      pauseMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS),
      rssBytes,
      peakRssBytes: Math.max(peakRssBytes, rssBytes),
      cpuMs: (user + system) / 1_000,
    };
    delays.reset();
    peakRssBytes = rssBytes;
    process.send?.(sample);
  });
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
