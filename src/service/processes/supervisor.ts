import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DatabaseAddress } from '../../db/connection-settings.ts';
import { StartError } from '../../db/start-error.ts';
import { REQUESTS_LIMIT_MS } from '../shutdown/graceful-shutdown.ts';
import { aborted } from '../shutdown/shutdown-signals.ts';
import { ALIVE_EVERY_MS, type FromProcess, SILENCE_LIMIT_MS, type ToProcess } from './process-messages.ts';

/**
 * Several processes that answer on one port. The supervising process holds the port and hands each new connection to the
 * next process (node:cluster, round-robin; decision 24). A process that ends, or hangs, is started again.
 */
export type ProcessGroup = {
  /** Lets all of them finish their requests, and ends those that do not in time. */
  stop(hurry: AbortSignal): Promise<void>;
};

export type GroupOptions = {
  count: number;
  address: DatabaseAddress;
  /** Sent to each, or one that is started again would make others if the file of the keys has gone. */
  secretKeys: readonly string[];
  drainSeconds: number;
  /** Called before the first one listens. */
  freePort(): void;
  log: Logger;
  /** Aborting it ends a start that is under way. */
  signal: AbortSignal;
};

/** A process that dies at once is started again after this, then after twice as long each time, up to the limit. */
const BACKOFF_MIN_MS = 100;
const BACKOFF_LIMIT_MS = 10_000;
/** One that has lived so long was well: the next backoff is the shortest again. */
const STABLE_MS = 60_000;
/** Beyond what a process itself waits for its requests. */
export const STOP_SPARE_MS = 5_000;

/** Resolves when all of them listen, or when the start is aborted; rejected if one can't, and then none is left. */
export async function startProcesses(options: GroupOptions): Promise<ProcessGroup> {
  const { log, address, secretKeys } = options;
  const running = new Map<number, Worker>();
  const stopping = new AbortController();
  let hasStarted = false;
  let onFailure: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    onFailure = reject;
  });

  function start(number: number, failures: number): Promise<void> {
    const child = cluster.fork();
    const startedAt = Date.now();
    let reason: string | null = null;
    let silence: NodeJS.Timeout | undefined;
    running.set(number, child);
    child.on('message', (message: FromProcess) => {
      if (message.kind === 'failed') {
        reason = message.reason;
        return;
      }
      if (message.kind !== 'hello') {
        clearTimeout(silence);
        silence = setTimeout(() => {
          // If this process was held up itself, the messages that came meanwhile are read first.
          silence = setTimeout(() => end(child, number), ALIVE_EVERY_MS).unref();
        }, SILENCE_LIMIT_MS).unref();
      }
      if (message.kind === 'alive') return;
      if (stopping.signal.aborted) return tell(child, { kind: 'stop' });
      if (message.kind === 'hello') return tell(child, { kind: 'start', number, address, secretKeys });
      options.freePort();
      tell(child, { kind: 'listen' });
    });
    child.on('error', (error) => log.warn({ err: error, process: number }, 'a process could not be reached'));
    child.once('exit', (code, signal) => {
      running.delete(number);
      clearTimeout(silence);
      if (stopping.signal.aborted) return;
      if (!hasStarted) return onFailure(startError(number, options.count, reason ?? endOf(code, signal)));
      const next = Date.now() - startedAt >= STABLE_MS ? 0 : failures + 1;
      const inMs = Math.min(BACKOFF_LIMIT_MS, BACKOFF_MIN_MS * 2 ** Math.max(0, next - 1));
      log.warn({ process: number, code, signal, reason, inMs }, 'a process ended; it is started again');
      void restart(number, next, inMs);
    });
    return new Promise((resolve) => child.once('listening', () => resolve()));
  }

  /** Clients on its connections wait in vain, and so does every commit behind a lock that it holds. */
  function end(child: Worker, number: number): void {
    log.error({ process: number, silentMs: SILENCE_LIMIT_MS }, 'a process hangs; it is ended');
    child.process.kill('SIGKILL');
  }

  async function restart(number: number, failures: number, inMs: number): Promise<void> {
    await sleep(inMs, undefined, { signal: stopping.signal }).catch(() => {});
    if (!stopping.signal.aborted) await start(number, failures);
  }

  async function stop(hurry: AbortSignal): Promise<void> {
    stopping.abort();
    const left = [...running.values()];
    const tellAll = (message: ToProcess) => {
      for (const child of left) tell(child, message);
    };
    const onHurry = () => tellAll({ kind: 'hurry' });
    tellAll({ kind: hurry.aborted ? 'hurry' : 'stop' });
    hurry.addEventListener('abort', onHurry, { once: true });
    const limitMs = options.drainSeconds * 1_000 + REQUESTS_LIMIT_MS + STOP_SPARE_MS;
    const ended = Promise.all(left.map((child) => exitOf(child)));
    await Promise.race([ended, sleep(limitMs, undefined, { ref: false })]);
    hurry.removeEventListener('abort', onHurry);
    for (const child of left) if (!child.isDead()) child.process.kill('SIGKILL');
    await ended;
  }

  try {
    const numbers = Array.from({ length: options.count }, (_, index) => index + 1);
    const started = Promise.all(numbers.map((number) => start(number, 0)));
    await Promise.race([started, failed, aborted(options.signal)]);
    hasStarted = true;
    return { stop };
  } catch (error) {
    await stop(AbortSignal.abort());
    throw error;
  }
}

/** What is wrong is usually wrong for all of them; the first to say so speaks for all. */
function startError(number: number, count: number, reason: string): StartError {
  return new StartError(`process ${number} of ${count} could not start: ${reason.replaceAll('\n', '; ')}`);
}

function endOf(code: number | null, signal: string | null): string {
  return signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
}

/** One that has just died gets no message; its exit is noticed by itself. */
function tell(child: Worker, message: ToProcess): void {
  if (child.isConnected()) child.send(message, () => {});
}

async function exitOf(child: Worker): Promise<void> {
  if (!child.isDead()) await new Promise<void>((resolve) => child.once('exit', () => resolve()));
}
