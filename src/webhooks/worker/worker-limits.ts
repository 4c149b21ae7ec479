import { ATTEMPT_TIMEOUT_MS } from '../delivery-queue/retries/retry-schedule.ts';

export type WorkerLimits = {
  /** Attempts in flight at once in this worker, and the bytes of their bodies. */
  inFlight: number;
  inFlightBytes: number;
  /** Attempts in flight at once to one endpoint, in all workers together. */
  inFlightPerEndpoint: number;
  /**
   * How long a claimed delivery belongs to its worker; an abandoned one waits this long. What the lease leaves beside the
   * attempt is for the answer of the claim and for recording: a claim that was too long on its way is not sent.
   */
  leaseMs: number;
  attemptTimeoutMs: number;
  pollMs: number;
  /** Between two steps of maintenance: holds, releases, replays. */
  maintenanceMs: number;
};

export const WORKER_LIMITS: WorkerLimits = {
  inFlight: 1_024,
  inFlightBytes: 64 * 1024 * 1024,
  inFlightPerEndpoint: 64,
  leaseMs: 20_000,
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  pollMs: 1_000,
  maintenanceMs: 500,
};
