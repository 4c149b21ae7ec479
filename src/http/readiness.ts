import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../contract/errors.ts';

/**
 * Whether a load balancer may send requests to this process: `starting` → `ready` → `draining`. While it starts, another
 * server answers on the port (service/startup/starting-server.ts); this one knows the other two.
 */
export type Readiness = {
  /** Throws `not_ready` while the process drains, or when the database does not answer. */
  assertReady(): Promise<void>;
  isDraining(): boolean;
  /** From now on the process is not ready, and asks every client to close its connection. */
  drain(): void;
};

/** How long a database may take to answer before the process counts as being without one. */
const PING_LIMIT_MS = 2_000;
/** The endpoint is open to everyone, so the database is asked at most about twice a second. */
const PING_KEEP_MS = 500;

/** `ping` resolves when the database answers. It should not wait behind requests. */
export function createReadiness(ping: () => Promise<unknown>): Readiness {
  let isDraining = false;
  let answer: Promise<boolean> | null = null;

  function isDatabaseThere(): Promise<boolean> {
    if (answer !== null) return answer;
    const late = sleep(PING_LIMIT_MS, false, { ref: false });
    const pinged = ping().then(
      () => true,
      () => false,
    );
    answer = Promise.race([pinged, late]);
    void answer.finally(() => setTimeout(forget, PING_KEEP_MS).unref());
    return answer;
  }
  function forget(): void {
    answer = null;
  }

  return {
    async assertReady() {
      if (isDraining) throw new ApiError('not_ready', { message: 'This process is about to stop.' });
      if (!(await isDatabaseThere())) {
        throw new ApiError('not_ready', { message: 'The database does not answer.' });
      }
    },
    isDraining: () => isDraining,
    drain() {
      isDraining = true;
    },
  };
}
