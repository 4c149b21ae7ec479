import type { Actor } from '../../src/audit/actor.ts';

/** Who does what the tests do, where it does not matter who. */
export const TESTER: Actor = { kind: 'command_line' };
