import { readdirSync, readFileSync } from 'node:fs';
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
  /** Of the service and the processes in which it has pictures converted. */
  rssBytes: number;
  peakRssBytes: number;
  /** Of the service itself. */
  cpuMs: number;
};

const RESOLUTION_MS = 5;
const MEMORY_EVERY_MS = 20;
/** A process takes that long to start. */
const PROCESSES_EVERY_MS = 200;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const PAGE_BYTES = 4_096;
const THREADS = '/proc/self/task';
/** Whether a child converts pictures; the database server does not. */
const convertsPictures = new Map<string, boolean>();
let pictureProcesses: string[] = [];

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has ended, or the system has no such files.
    return '';
  }
}

/** Each thread has children of its own, so there are dozens of files to read. */
function findPictureProcesses(): void {
  const threads = readdirSync(THREADS);
  const children = threads.flatMap((id) => textOf(`${THREADS}/${id}/children`).split(' ').filter(Boolean));
  pictureProcesses = children.filter((pid) => {
    const isPictures = convertsPictures.get(pid) ?? textOf(`/proc/${pid}/cmdline`).includes('conversion-process');
    convertsPictures.set(pid, isPictures);
    return isPictures;
  });
}

function residentBytes(): number {
  let bytes = process.memoryUsage.rss();
  for (const pid of pictureProcesses) bytes += Number(textOf(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES;
  return bytes;
}

if (process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let peakRssBytes = residentBytes();
  let busyMs = 0;
  let threadMs = threadCpuMs();
  setInterval(() => {
    const nowMs = threadCpuMs();
    busyMs = Math.max(busyMs, nowMs - threadMs);
    threadMs = nowMs;
  }, RESOLUTION_MS).unref();
  if (process.platform === 'linux') setInterval(findPictureProcesses, PROCESSES_EVERY_MS).unref();
  setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, residentBytes());
  }, MEMORY_EVERY_MS).unref();

  process.on('message', () => {
    const rssBytes = residentBytes();
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
