import type { DatabaseAddress } from '../../db/connection-settings.ts';

/**
 * What the supervisor and the processes that answer requests tell each other.
 *
 * | message | from | meaning |
 * |---|---|---|
 * | `hello` | process | It has loaded its program and listens to messages. |
 * | `start` | supervisor | The database answers at this address, and its tables are there. |
 * | `prepared` | process | Everything is ready but the port. |
 * | `failed` | process | It can't start, for a reason that the operator has to fix. It ends. |
 * | `listen` | supervisor | The port is free: listen. |
 * | `stop` | supervisor | Drain, finish the requests and end. |
 * | `hurry` | supervisor | Do not wait for requests any longer. |
 */
export type ToProcess =
  | { kind: 'start'; number: number; address: DatabaseAddress }
  | { kind: 'listen' }
  | { kind: 'stop' }
  | { kind: 'hurry' };
export type FromProcess = { kind: 'hello' } | { kind: 'prepared' } | { kind: 'failed'; reason: string };
