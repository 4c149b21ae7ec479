import type { FastifyBaseLogger } from 'fastify';
import type { ChannelContext } from '../channel/context.ts';
import type { ByteRateOptions } from '../concurrency/limits/byte-rate.ts';
import type { Database } from '../db/database.ts';
import type { PhotoReader } from '../inventory/photos/photo-reader.ts';
import type { DiscardLimits } from './connection/body-discard.ts';
import type { TrustedProxies } from './connection/client-address.ts';
import type { SlowReaderLimits } from './connection/slow-reader.ts';
import type { DashboardOptions } from './dashboard/dashboard-options.ts';
import type { RequestRateLimits } from './dashboard/limits/request-rate.ts';
import type { UploadPace } from './dashboard/limits/upload-pace.ts';
import type { RequestLogLimits } from './logging/api-request-log.ts';
import type { LimitedLines, LineLimits } from './logging/line-limit.ts';
import type { RateLimitStore } from './public/rate-limit/rate-limit-store.ts';
import type { ReadLimitOptions } from './public/reads/read-limits.ts';
import type { Readiness } from './readiness.ts';

/** Everything that the HTTP server is built from. */
export type AppOptions = {
  db: Database;
  /** The connections for the lookup of keys, if it has its own. */
  admissionDb?: Database;
  log: FastifyBaseLogger;
  publicUrl: string;
  /** The context that operations on stock and orders take. */
  channel: ChannelContext;
  secretKeys: readonly string[];
  /** How much memory the answers to reads may take. */
  readCacheBytes: number;
  rateLimits: RateLimitStore;
  /** Answers `/api/v1/ready`, which every process serves. */
  readiness: Readiness;
  /** Which parts to serve. The docs are always there. */
  hasApi: boolean;
  /** If it is null, the process serves no photos. */
  photoReader: PhotoReader | null;
  /** If it is null, the process serves no dashboard, and the root address opens the docs. */
  dashboard: DashboardOptions | null;
  trustedProxies: TrustedProxies;
  /** How many connections one address may have open, unless it is a trusted proxy's. */
  connectionsPerAddress?: number;
  /** How many connections all addresses may have open together. */
  connectionLimit?: number;
  timeouts?: Partial<Timeouts>;
  /** How much one integration may store in a day, unless it has a quota of its own. */
  storageQuotaMbPerDay?: number;
  /** The same for the people of one dealer, who use the dashboard. */
  dashboardStorageQuotaMbPerDay?: number;
  /** Whether the disk is nearly full: then only what stores nothing is served. */
  isDiskLow?: () => boolean;
  /** How long a write waits for its key and in the queue of its lock, taken together; tests change it. */
  writeWaitMs?: number;
  /** When the log of API requests is written, and how much of it waits; tests change it. */
  requestLogLimits?: Partial<RequestLogLimits>;
  /** How many connections and bytes the reads of one integration may take; tests lower it. */
  readLimits?: Partial<ReadLimitOptions>;
  /** How fast the unread bodies of refused requests are discarded; tests slow it down. */
  discardLimits?: Partial<DiscardLimits>;
  /** How fast large bodies are read; tests slow it down. */
  bodyRate?: Partial<ByteRateOptions>;
  /** How many requests a person may send to the dashboard; tests lower it. */
  dashboardRate?: RequestRateLimits;
  /** How slowly a photo may be read; tests shorten it. */
  slowReader?: SlowReaderLimits;
  /** How slowly a file may be uploaded; tests shorten it. */
  uploadPace?: Partial<UploadPace>;
  /** How many lines about refused requests the log gets; tests lower it. */
  lineLimits?: Partial<Record<LimitedLines, LineLimits>>;
};

export type Timeouts = {
  /** How long the headers of a request, and the whole request, may take to arrive. */
  headersMs: number;
  requestMs: number;
  /** The same for a request with a file. */
  uploadMs: number;
  /** How long a connection may be idle, such as one whose client does not read its answer. */
  idleMs: number;
  /** How long a client may take to read one piece of a large answer. */
  pieceMs: number;
  /** How often the server looks for requests that are late. */
  checkEveryMs: number;
};
