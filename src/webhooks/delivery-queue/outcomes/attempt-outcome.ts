import type { AttemptResult } from '../../sending/send.ts';
import type { Claimed } from '../claim.ts';

/** How an attempt ended. The body is not kept: outcomes may have to wait for a database that is away. */
export type AttemptOutcome = {
  delivery: Pick<Claimed, 'integrationId' | 'id' | 'ctid' | 'url' | 'attempts' | 'leaseToken'>;
  result: AttemptResult;
  endedAt: Date;
};
