import type { AttemptResult } from '../../sending/send.ts';
import type { Claimed } from '../claim.ts';

/** How an attempt ended. The body is not kept: outcomes may have to wait for a database that is away. */
export type AttemptOutcome = {
  delivery: Pick<Claimed, 'integrationId' | 'id' | 'ctid' | 'url' | 'attempts' | 'dispatches' | 'leaseToken'>;
  result: AttemptResult;
  /** What was signed: the signature's `t` is its second. */
  startedAt: Date;
  endedAt: Date;
  durationMs: number;
};
