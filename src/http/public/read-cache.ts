import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ByteCache, createByteCache } from '../../channel/reads/document-cache.ts';
import type { Freshness } from '../../channel/reads/read-documents.ts';
import type { Release } from '../../concurrency/keyed-semaphore.ts';
import { PIECE_BYTES } from '../../db/page-bytes.ts';
import { acceptedEncoding, type Encoding } from '../accept-encoding.ts';
import { etagOf, isMatch } from '../etag.ts';
import type { AdmittedIntegration } from './authentication.ts';
import { COMPRESS_MIN_BYTES, compressors } from './compression.ts';
import type { ListBody, ListStream } from './list-body.ts';
import type { ReadLimits } from './read-limits.ts';
import { sendBytes, sendHead, sendStream } from './send-list.ts';

/**
 * Whole answers, kept by integration, clock and what was asked for. Every commit that changes anything a client can read
 * moves the integration's clock, and the clock was read with this very request's key: while it stands, an answer built
 * under it is still the truth, except for what ends by itself at a known time. Pages that are larger than a piece are not
 * kept, but sent as they are read.
 */
export type ReadCache = {
  serve(read: Read, build: () => Promise<Built>): Promise<unknown>;
};

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
type Streamed = { stream: ListStream; etag: string; version: string | null };

/** Smaller answers are not worth counting: the socket's own buffer takes them. */
const COUNTED_BYTES = 65_536;

export type ReadCacheOptions = { maxBytes: number; limits: ReadLimits; pieceLimitMs: number };

export function createReadCache({ maxBytes, limits, pieceLimitMs }: ReadCacheOptions): ReadCache {
  const cache: ByteCache<Entry> = createByteCache(maxBytes);

  function find(read: Read, key: string): Entry | null {
    const kept = cache.get(key);
    const isRight = kept !== undefined && (kept.validUntilMs === null || read.integration.nowMs < kept.validUntilMs);
    return isRight ? kept : null;
  }

  async function make(read: Read, key: string, build: () => Promise<Built>): Promise<Entry | Streamed> {
    const built = await limits.read(read.integration.integrationId, read.reply, build);
    const { version = null, validUntilMs } = built;
    if ('stream' in built) return { stream: built.stream, etag: built.stream.etag, version };
    const { body } = built;
    const entry = { bodies: { identity: body }, etag: etagOf(body), version, validUntilMs, size: body.length };
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
    const encoding = encodingOf(request, found);
    const body = 'stream' in found ? null : await bodyOf(key, found, encoding);
    const weight = body === null ? PIECE_BYTES : body.length;
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
    const release = await limits.waitForBytes(read.integration.integrationId, read.reply, weight);
    try {
      const found = await again();
      const encoding = encodingOf(read.request, found);
      const body = 'stream' in found ? null : await bodyOf(key, found, encoding);
      return await sendCounted(read, found, encoding, body, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async function sendCounted(
    { request, reply, integration: { integrationId } }: Read,
    found: Entry | Streamed,
    encoding: Encoding,
    body: Buffer | null,
    release: Release,
  ): Promise<unknown> {
    setHeaders(reply, found, encoding);
    if (body !== null) return await sendBytes(reply, body, { pieceLimitMs, release });
    const { stream } = found as Streamed;
    const waitForBytes = () => limits.waitForBytes(integrationId, reply, PIECE_BYTES);
    const piece = (from: number) => limits.read(integrationId, reply, () => stream.piece(from));
    return await sendStream({ request, reply }, { ...stream, piece }, encoding, {
      pieceLimitMs,
      release,
      waitForBytes,
    });
  }

  return {
    async serve(read, build) {
      const { clockMs, apiVersion, integrationId } = read.integration;
      const key = `${integrationId} ${clockMs} ${apiVersion} ${read.key}`;
      const obtain = async () => find(read, key) ?? (await make(read, key, build));
      const found = await obtain();
      if (isMatch(read.request.headers['if-none-match'], found.etag)) {
        setHeaders(read.reply, found, 'identity');
        return read.reply.removeHeader('content-type').code(304).send();
      }
      return await send(read, key, found, obtain);
    },
  };
}

function encodingOf(request: FastifyRequest, found: Entry | Streamed): Encoding {
  const isSmall = 'bodies' in found && found.bodies.identity.length < COMPRESS_MIN_BYTES;
  return isSmall ? 'identity' : acceptedEncoding(request.headers['accept-encoding']);
}

function setHeaders(reply: FastifyReply, { version, etag }: Entry | Streamed, encoding: Encoding): void {
  if (version !== null) reply.header('x-api-version', version);
  reply.header('etag', etag);
  reply.header('vary', 'Accept-Encoding');
  reply.header('cache-control', 'private, no-cache');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.header('content-type', 'application/json; charset=utf-8');
}

function withBody(entry: Entry, encoding: Encoding, body: Buffer): Entry {
  return { ...entry, bodies: { ...entry.bodies, [encoding]: body }, size: entry.size + body.length };
}
