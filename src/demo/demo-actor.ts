import type { Actor } from '../audit/actor.ts';

/** Who makes the demo shop, for the audit log. */
export const DEMO: Actor = { kind: 'job', name: 'demo' };
