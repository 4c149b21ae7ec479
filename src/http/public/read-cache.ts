import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ByteCache, createByteCache } from '../../channel/document-cache.ts';
import type { Freshness } from '../../channel/read-documents.ts';
import { acceptedEncoding, type Encoding } from '../accept-encoding.ts';
import { isMatch } from '../if-none-match.ts';
import type { AdmittedIntegration } from './admit.ts';

/**
 * Whole answers, kept by integration, clock and URL. Every commit that changes anything a client can read moves the
 * integration's clock, and the clock was read with this very request's key: while it stands, an answer built under it
 * is still the truth, except for what ends by itself at a known time.
 */
export type ReadCache = {
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    integration: AdmittedIntegration,
    build: () => Promise<Built>,
  ): Promise<FastifyReply>;
};

export type Built = {
  body: Buffer;
  /** The version of what was read, if a roll may have moved the pin since the request was admitted. */
  version?: string | null;
} & Freshness;

type Entry = {
  bodies: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
  /** Made from the bytes, so that it is true whatever moved the clock. Weak, for it names all encodings of them. */
  etag: string;
  version: string | null;
  validUntilMs: number | null;
  size: number;
};

/** Below this, compressing costs more than it saves. */
const COMPRESS_MIN_BYTES = 1_024;
const BROTLI_QUALITY = 4;

const compressors = {
  br: (body: Buffer) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
};

export function createReadCache(maxBytes: number): ReadCache {
  const cache: ByteCache<Entry> = createByteCache(maxBytes);

  async function find(key: string, nowMs: number, build: () => Promise<Built>): Promise<Entry> {
    const kept = cache.get(key);
    if (kept !== undefined && (kept.validUntilMs === null || nowMs < kept.validUntilMs)) return kept;
    const built = await build();
    const entry = entryOf(built);
    if (built.isCurrent) cache.set(key, entry);
    return entry;
  }

  return {
    async serve(request, reply, integration, build) {
      const { integrationId, clockMs, nowMs, apiVersion } = integration;
      const key = `${integrationId} ${clockMs} ${apiVersion} ${request.url}`;
      const entry = await find(key, nowMs, build);
      if (entry.version !== null) reply.header('x-api-version', entry.version);
      reply.header('etag', entry.etag);
      reply.header('vary', 'Accept-Encoding');
      reply.header('cache-control', 'private, no-cache');
      if (isMatch(request.headers['if-none-match'], entry.etag)) return reply.code(304).send();

      const isSmall = entry.bodies.identity.length < COMPRESS_MIN_BYTES;
      const encoding = isSmall ? 'identity' : acceptedEncoding(request.headers['accept-encoding']);
      let body = entry.bodies[encoding];
      if (body === undefined && encoding !== 'identity') {
        body = await compressors[encoding](entry.bodies.identity);
        // A new entry, because the cache measures an entry when it comes; one that was not kept stays out.
        if (cache.get(key) === entry) cache.set(key, withBody(entry, encoding, body));
      }
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  };
}

function entryOf({ body, validUntilMs, version = null }: Built): Entry {
  const digest = createHash('sha1').update(body).digest('base64url');
  return { bodies: { identity: body }, etag: `W/"${digest}"`, version, validUntilMs, size: body.length };
}

function withBody(entry: Entry, encoding: Encoding, body: Buffer): Entry {
  return { ...entry, bodies: { ...entry.bodies, [encoding]: body }, size: entry.size + body.length };
}
