import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Loaded into the attacked service by `--import`, so that the product needs no door for it: answers each message of the
 * program that started the service with what happened since the last one. When that program ends, so does the service.
 */
export type Sample = {
  /** The longest time that the event loop did nothing else. */
  pauseMs: number;
  /** The most CPU time that its thread took in one go. On a busy machine this says what the service itself did. */
  busyMs: number;
  rssBytes: number;
  peakRssBytes: number;
  cpuMs: number;
};

const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

if (process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let peakRssBytes = process.memoryUsage.rss();
  let busyMs = 0;
  let threadMs = threadCpuMs();
  setInterval(() => {
    const nowMs = threadCpuMs();
    busyMs = Math.max(busyMs, nowMs - threadMs);
    threadMs = nowMs;
  }, RESOLUTION_MS).unref();
  setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, process.memoryUsage.rss());
  }, MEMORY_EVERY_MS).unref();

  process.on('message', () => {
    const rssBytes = process.memoryUsage.rss();
    const { user, system } = process.cpuUsage();
    const sample: Sample = {
      pauseMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS),
      busyMs: Math.max(0, busyMs - RESOLUTION_MS),
      rssBytes,
      peakRssBytes: Math.max(peakRssBytes, rssBytes),
      cpuMs: (user + system) / 1_000,
    };
    delays.reset();
    busyMs = 0;
    peakRssBytes = rssBytes;
    process.send?.(sample);
  });
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
