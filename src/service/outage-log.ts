import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../db/database-away.ts';

/**
 * One line when the database goes away, and one when it is back. While it is away everything that works in the background fails
 * every second, each with its own words: a log full of "a person could not be erased" hides what is wrong.
 */
export type OutageLog = {
  /** Asked before a line about a fault is written: true if it is only that the database is away. */
  hides(fault: unknown): boolean;
  /** Begins when there is a database. Until then nothing is hidden. */
  watch(log: Pick<Logger, 'error' | 'info' | 'warn'>, ping: () => Promise<unknown>): void;
  stop(): void;
};

const LOOK_EVERY_MS = 1_000;
/** What waited for a connection fails later than the connection. */
const SETTLE_MS = 5_000;

export function createOutageLog(): OutageLog {
  const stopping = new AbortController();
  const { signal } = stopping;
  let follow: ((fault: unknown) => Promise<void>) | null = null;
  let isFollowed = false;
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

  return {
    hides(fault) {
      if (follow === null || !isDatabaseAway(fault)) return false;
      if (!isFollowed) {
        isFollowed = true;
        void follow(fault).finally(() => {
          isFollowed = false;
        });
      }
      return true;
    },
    watch(log, ping) {
      follow = async (fault) => {
        const answers = () =>
          ping().then(
            () => true,
            () => false,
          );
        const beganAt = performance.now();
        if (await answers()) {
          log.warn({ reason: reasonOf(fault) }, 'connections to the database were lost; it answers new ones');
        } else if (!signal.aborted) {
          log.error(
            { reason: reasonOf(fault) },
            'the database does not answer: requests fail, and the work in the background waits until it is back',
          );
          while (!signal.aborted && !(await answers())) await pause(LOOK_EVERY_MS);
          if (signal.aborted) return;
          log.info({ seconds: Math.round((performance.now() - beganAt) / 1_000) }, 'the database answers again');
        }
        await pause(SETTLE_MS);
      };
    },
    stop: () => stopping.abort(),
  };
}

function reasonOf(fault: unknown): string {
  const first = fault instanceof AggregateError ? (fault.errors[0] as unknown) : fault;
  return first instanceof Error ? first.message : String(first);
}
