import { ATTEMPT_TIMEOUT_MS } from '../delivery-queue/retry-schedule.ts';

export type WorkerLimits = {
  /** Attempts under way at once in this worker, and the bytes of their bodies. */
  inFlight: number;
  inFlightBytes: number;
  /** Attempts under way at once to one receiver, in all workers together. */
  inFlightPerEndpoint: number;
  /**
   * How long a claimed delivery belongs to its worker; an abandoned one waits this long. What it leaves beside the attempt
   * is for the answer of the claim and for the recording: a claim that was too long on its way is not sent.
   */
  leaseMs: number;
  attemptTimeoutMs: number;
  pollMs: number;
  /** Housekeeping: receivers that were switched, replays. */
  tidyMs: number;
};

export const LIMITS: WorkerLimits = {
  inFlight: 1_024,
  inFlightBytes: 64 * 1024 * 1024,
  inFlightPerEndpoint: 64,
  leaseMs: 20_000,
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  pollMs: 1_000,
  tidyMs: 500,
};
