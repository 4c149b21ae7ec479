import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ByteCache, createByteCache } from '../../../channel/reads/document-cache.ts';
import type { Freshness } from '../../../channel/reads/read-documents.ts';
import type { Release } from '../../../concurrency/limits/keyed-semaphore.ts';
import { WHOLE_PAGE_BYTES } from '../../../db/page-bytes.ts';
import { acceptedEncoding, type Encoding } from '../../accept-encoding.ts';
import { isMatch, weakEtagOf } from '../../etag.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import { COMPRESS_MIN_BYTES, compressors } from './compression.ts';
import type { ListBody, ListStream } from './list-body.ts';
import type { ReadLimits, ReadWait } from './read-limits.ts';
import { sendBytes, sendHead, sendStream } from './send-list.ts';

/**
 * Whole answers, kept by integration, clock and what was asked for. Every commit that changes anything a client can
 * read moves the integration's clock, and the clock was read with this very request's key: while the clock has not
 * moved, an answer built under it is still true, except for what expires at a known time. Pages that are too large to be
 * held as a whole are not kept, but sent as they are read.
 */
export type ReadCache = {
  serve(read: Read, build: () => Promise<Built>): Promise<unknown>;
  /** The cached answer to a URL that this integration has asked for before; null if there is anything left to do for it. */
  cachedAnswer(request: IncomingMessage, integration: AdmittedIntegration): CachedAnswer | null;
};

/** The headers stand in pairs, as `writeHead` takes them. */
export type CachedAnswer = { status: 200 | 304; version: string | null; headers: string[]; body: Buffer | null };

export type Read = {
  request: FastifyRequest;
  reply: FastifyReply;
  integration: AdmittedIntegration;
  /** What is asked for, as it was understood: equal questions have equal keys, however they were written. */
  key: string;
};

export type Built = {
  /** The version of what was read, if a roll may have moved the pin since the request was admitted. */
  version?: string | null;
} & ListBody &
  Freshness;

type Entry = {
  bodies: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
  /** Made from the bytes, so that it is true whatever moved the clock. */
  etag: string;
  version: string | null;
  validUntilMs: number | null;
  size: number;
};
/** What a URL was understood as, so that it need not be parsed again. */
type KnownUrl = { key: string; size: number };
type Streamed = { stream: ListStream; etag: string; version: string | null };

/** Smaller answers are not worth counting: the socket's own buffer takes them. */
const COUNTED_BYTES = 65_536;
/** What a page counts for while a piece of it is on its way: the largest document may be in memory three times. */
const STREAMED_BYTES = WHOLE_PAGE_BYTES;
/** The share of the memory that known URLs take. */
const URLS_SHARE = 1 / 8;

/** A longer URL names many ids. Its answer is too large for the fast path, and it would only take memory. */
const KNOWN_URL_LIMIT = 1_024;

export type ReadCacheOptions = { maxBytes: number; limits: ReadLimits; pieceLimitMs: number };

export function createReadCache({ maxBytes, limits, pieceLimitMs }: ReadCacheOptions): ReadCache {
  const cache: ByteCache<Entry> = createByteCache(maxBytes * (1 - URLS_SHARE));
  const urls: ByteCache<KnownUrl> = createByteCache(maxBytes * URLS_SHARE);

  function find({ nowMs }: AdmittedIntegration, key: string): Entry | null {
    const entry = cache.get(key);
    const isRight = entry !== undefined && (entry.validUntilMs === null || nowMs < entry.validUntilMs);
    return isRight ? entry : null;
  }

  function cachedAnswer(request: IncomingMessage, integration: AdmittedIntegration): CachedAnswer | null {
    const { url = '' } = request;
    if (url.length > KNOWN_URL_LIMIT) return null;
    const known = urls.get(`${integration.integrationId} ${url}`);
    const entry = known === undefined ? null : find(integration, keyOf(integration, known.key));
    if (entry === null) return null;
    const { version, etag } = entry;
    const match = request.headers['if-none-match'];
    if (match !== undefined && isMatch(match, etag)) {
      return { status: 304, version, headers: validators(etag), body: null };
    }
    const encoding = encodingOf(request.headers, entry);
    const body = entry.bodies[encoding];
    if (body === undefined || body.length >= COUNTED_BYTES) return null;
    return { status: 200, version, headers: contentHeaders(etag, encoding), body };
  }

  async function make(read: Read, key: string, build: () => Promise<Built>): Promise<Entry | Streamed> {
    const built = await limits.read(waitOf(read), build);
    const { version = null, validUntilMs } = built;
    if ('stream' in built) return { stream: built.stream, etag: built.stream.etag, version };
    const { body } = built;
    const entry = { bodies: { identity: body }, etag: weakEtagOf(body), version, validUntilMs, size: body.length };
    if (built.isCurrent) cache.set(key, entry);
    return entry;
  }

  async function bodyOf(key: string, entry: Entry, encoding: Encoding): Promise<Buffer> {
    const known = entry.bodies[encoding];
    if (known !== undefined || encoding === 'identity') return known ?? entry.bodies.identity;
    const body = await compressors[encoding](entry.bodies.identity);
    // A new entry, because the cache measures an entry when it comes; one that was not kept stays out.
    if (cache.get(key) === entry) cache.set(key, withBody(entry, encoding, body));
    return body;
  }

  /** The bytes of an answer count while they are in memory for one request alone, and until they are sent. */
  async function send(read: Read, key: string, found: Entry | Streamed, again: () => Promise<Entry | Streamed>) {
    const { request, reply, integration } = read;
    const encoding = encodingOf(request.headers, found);
    const body = 'stream' in found ? null : await bodyOf(key, found, encoding);
    const weight = body === null ? STREAMED_BYTES : body.length;
    if (request.method === 'HEAD' || weight < COUNTED_BYTES) {
      setHeaders(reply, found, encoding);
      return body === null ? sendHead(reply) : await reply.send(body);
    }
    const release = await limits.tryBytes(integration.integrationId, weight);
    if (release !== null) return await sendCounted(read, found, encoding, body, release);
    return await sendLater(read, key, weight, again);
  }

  /** Waits with nothing in memory; what is sent then is read anew. */
  async function sendLater(read: Read, key: string, weight: number, again: () => Promise<Entry | Streamed>) {
    const release = await limits.waitForBytes(waitOf(read), weight);
    try {
      const found = await again();
      const encoding = encodingOf(read.request.headers, found);
      const body = 'stream' in found ? null : await bodyOf(key, found, encoding);
      return await sendCounted(read, found, encoding, body, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async function sendCounted(
    read: Read,
    found: Entry | Streamed,
    encoding: Encoding,
    body: Buffer | null,
    release: Release,
  ): Promise<unknown> {
    const { request, reply } = read;
    setHeaders(reply, found, encoding);
    if (body !== null) return await sendBytes(reply, body, { pieceLimitMs, release });
    const { stream } = found as Streamed;
    const wait = { ...waitOf(read), hasBegun: true };
    const piece = (from: number) => limits.read(wait, () => stream.piece(from));
    return await sendStream({ request, reply }, { ...stream, piece }, encoding, {
      pieceLimitMs,
      release,
      pace: (bytes) => limits.pace(wait, bytes),
      waitForBytes: () => limits.waitForBytes(wait, STREAMED_BYTES),
    });
  }

  return {
    cachedAnswer,
    async serve(read, build) {
      const { request, reply, integration } = read;
      const key = keyOf(integration, read.key);
      const obtain = async () => find(integration, key) ?? (await make(read, key, build));
      const found = await obtain();
      // A URL with ignored parameters is unusual: its answer names them, so the framework answers it each time.
      const { url = '' } = request.raw;
      if (url.length <= KNOWN_URL_LIMIT && !reply.hasHeader('x-ignored-fields')) {
        urls.set(`${integration.integrationId} ${url}`, { key: read.key, size: read.key.length });
      }
      if (isMatch(request.headers['if-none-match'], found.etag)) {
        if (found.version !== null) reply.header('x-api-version', found.version);
        setPairs(reply, validators(found.etag));
        return reply.code(304).send();
      }
      return await send(read, key, found, obtain);
    },
  };
}

function keyOf({ integrationId, clockMs, apiVersion }: AdmittedIntegration, key: string): string {
  return `${integrationId} ${clockMs} ${apiVersion} ${key}`;
}

function waitOf({ integration: { integrationId }, reply }: Read): ReadWait {
  return { integrationId, reply };
}

function encodingOf(headers: IncomingHttpHeaders, found: Entry | Streamed): Encoding {
  const isSmall = 'bodies' in found && found.bodies.identity.length < COMPRESS_MIN_BYTES;
  return isSmall ? 'identity' : acceptedEncoding(headers['accept-encoding']);
}

function setHeaders(reply: FastifyReply, { version, etag }: Entry | Streamed, encoding: Encoding): void {
  if (version !== null) reply.header('x-api-version', version);
  setPairs(reply, contentHeaders(etag, encoding));
}

function setPairs(reply: FastifyReply, pairs: readonly string[]): void {
  for (let index = 0; index < pairs.length; index += 2) reply.header(pairs[index] as string, pairs[index + 1]);
}

/** Sent with 200 and 304 alike. */
function validators(etag: string): string[] {
  return ['etag', etag, 'vary', 'Accept-Encoding', 'cache-control', 'private, no-cache'];
}

function contentHeaders(etag: string, encoding: Encoding): string[] {
  const headers = [...validators(etag), 'content-type', 'application/json; charset=utf-8'];
  if (encoding !== 'identity') headers.push('content-encoding', encoding);
  return headers;
}

function withBody(entry: Entry, encoding: Encoding, body: Buffer): Entry {
  return { ...entry, bodies: { ...entry.bodies, [encoding]: body }, size: entry.size + body.length };
}
