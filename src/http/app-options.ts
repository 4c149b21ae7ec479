import type { FastifyBaseLogger } from 'fastify';
import type { ChannelContext } from '../channel/context.ts';
import type { Database } from '../db/database.ts';
import type { PhotoReader } from '../inventory/photos/photo-reader.ts';
import type { DiscardLimits } from './connection/body-discard.ts';
import type { DashboardOptions } from './dashboard/dashboard-options.ts';
import type { RequestRateLimits } from './dashboard/limits/request-rate.ts';
import type { RequestLogLimits } from './logging/api-request-log.ts';
import type { RefusalLineLimits } from './logging/refusal-lines.ts';
import type { RateLimitStore } from './public/rate-limit/store.ts';
import type { ReadLimitOptions } from './public/reads/read-limits.ts';
import type { Readiness } from './readiness.ts';

/** All that the HTTP side of the service is made from. */
export type AppOptions = {
  db: Database;
  /** For the lookup of keys, if that has connections of its own. */
  admissionDb?: Database;
  log: FastifyBaseLogger;
  publicUrl: string;
  /** What the operations on stock and orders are handed. */
  channel: ChannelContext;
  secretKeys: readonly string[];
  /** How much memory the answers to reads may take. */
  readCacheBytes: number;
  rateLimits: RateLimitStore;
  /** What `/api/v1/ready` says; every process serves it. */
  readiness: Readiness;
  /** Which parts to serve. The docs are always there. */
  hasApi: boolean;
  /** Null serves no photos. */
  photoReader: PhotoReader | null;
  /** Null serves no dashboard; the address of the service then opens the docs. */
  dashboard: DashboardOptions | null;
  timeouts?: Partial<Timeouts>;
  /** How much one integration may store in a day, unless it has a quota of its own. */
  storageQuotaMbPerDay?: number;
  /** How long a write waits for its key and in the queue of its lock, taken together; tests change it. */
  writeWaitMs?: number;
  /** When the log of API requests is written, and how much of it waits; tests change it. */
  requestLogLimits?: Partial<RequestLogLimits>;
  /** What the reads of an integration may take; tests make it little. */
  readLimits?: Partial<ReadLimitOptions>;
  /** How fast the unread bodies of refused requests are discarded; tests make it slow. */
  discardLimits?: Partial<DiscardLimits>;
  /** How often a person may ask the dashboard; tests make it seldom. */
  dashboardRate?: RequestRateLimits;
  /** How many lines about refused requests the log has; tests make it few. */
  refusalLines?: RefusalLineLimits;
};

export type Timeouts = {
  /** For a request's headers, and for the whole request, to arrive. */
  headersMs: number;
  requestMs: number;
  /** For a request with a file. */
  uploadMs: number;
  /** For a connection on which nothing moves, such as a client that does not read its answer. */
  idleMs: number;
  /** For one piece of a large answer, which a client that reads takes in a moment. */
  pieceMs: number;
  /** How often late requests are looked for. */
  checkEveryMs: number;
};
