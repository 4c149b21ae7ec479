import type { DatabaseAddress } from '../../db/connection-settings.ts';

/**
 * What the supervisor and the processes that answer requests tell each other.
 *
 * | message | from | meaning |
 * |---|---|---|
 * | `hello` | process | It has loaded its program and listens to messages. |
 * | `start` | supervisor | The database answers at this address, and its tables are there; these are the secret keys. |
 * | `prepared` | process | Everything is ready but the port. |
 * | `alive` | process | Its event loop turns. It says so every few seconds. |
 * | `failed` | process | It can't start, for a reason that the operator has to fix. It ends. |
 * | `listen` | supervisor | The port is free: listen. |
 * | `stop` | supervisor | Drain, finish the requests and end. |
 * | `hurry` | supervisor | Do not wait for requests any longer. |
 */
export type ToProcess =
  | { kind: 'start'; number: number; address: DatabaseAddress; secretKeys: readonly string[] }
  | { kind: 'listen' }
  | { kind: 'stop' }
  | { kind: 'hurry' };
export type FromProcess =
  | { kind: 'hello' }
  | { kind: 'prepared' }
  | { kind: 'alive' }
  | { kind: 'failed'; reason: string };

/** How often a process says that it is alive, and after how long a silence it is ended and started again. */
export const ALIVE_EVERY_MS = 2_000;
export const SILENCE_LIMIT_MS = 30_000;
