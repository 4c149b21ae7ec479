import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Freshness } from '../../../channel/reads/read-documents.ts';
import type { Release } from '../../../concurrency/limits/keyed-semaphore.ts';
import { WHOLE_PAGE_BYTES } from '../../../db/large-pages.ts';
import { shareOf } from '../../../dealers/integrations/admission.ts';
import { acceptedEncoding, type Encoding } from '../../accept-encoding.ts';
import { isMatch } from '../../etag.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import { type Answer, createAnswerCache } from './answer-cache.ts';
import { COMPRESS_MIN_BYTES } from './compression.ts';
import type { ListBody, ListStream } from './list-body.ts';
import type { ReadLimits, ReadWait } from './read-limits.ts';
import { limitSending, sendHead, sendStream } from './send-list.ts';

/**
 * How every read is answered: from the cache (`answer-cache.ts`) or made anew, compressed as the client takes it, its
 * bytes counted. Pages that are too large to be held as a whole are not kept, but sent as they are read.
 */
export type ReadCache = {
  serve(read: Read, build: () => Promise<Built>): Promise<unknown>;
  /** The cached answer to a URL that this integration has asked for before; null if there is anything left to do for it. */
  cachedAnswer(request: IncomingMessage, integration: AdmittedIntegration): CachedAnswer | null;
};

/** The headers stand in pairs, as `writeHead` takes them. */
export type CachedAnswer = {
  status: 200 | 304;
  version: string | null;
  headers: string[];
  body: Buffer | null;
  /** Gives back the bytes of the body, if it is large enough to be counted; for `limitSending`. */
  release: Release | null;
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

type Streamed = { stream: ListStream; etag: string; version: string | null };

/** Smaller answers are not worth counting: the socket's own buffer takes them. */
const COUNTED_BYTES = 65_536;
/** What a page counts for while a piece of it is on its way: the largest document may be in memory three times. */
const STREAMED_BYTES = WHOLE_PAGE_BYTES;

export type ReadCacheOptions = { maxBytes: number; limits: ReadLimits; pieceLimitMs: number };

export function createReadCache({ maxBytes, limits, pieceLimitMs }: ReadCacheOptions): ReadCache {
  const answers = createAnswerCache(maxBytes);

  function cachedAnswer(request: IncomingMessage, integration: AdmittedIntegration): CachedAnswer | null {
    const answer = answers.findByUrl(integration, request.url ?? '');
    if (answer === null) return null;
    const { version, etag } = answer;
    const match = request.headers['if-none-match'];
    if (match !== undefined && isMatch(match, etag)) {
      return { status: 304, version, headers: validators(etag), body: null, release: null };
    }
    const encoding = encodingOf(request.headers, answer);
    const body = answer.bodies[encoding];
    if (body === undefined) return null;
    const isCounted = body.length >= COUNTED_BYTES;
    const release = isCounted ? limits.tryBytes(shareOf(integration), body.length) : null;
    if (isCounted && release === null) return null;
    return { status: 200, version, headers: contentHeaders(etag, encoding), body, release };
  }

  async function make(read: Read, build: () => Promise<Built>): Promise<Answer | Streamed> {
    const built = await limits.read(waitOf(read), build);
    const { version = null } = built;
    if ('stream' in built) return { stream: built.stream, etag: built.stream.etag, version };
    return answers.keep(read.integration, read.key, { ...built, version });
  }

  async function bodyOf({ integration, key }: Read, found: Answer | Streamed, encoding: Encoding) {
    return 'stream' in found ? null : await answers.bodyOf(integration, key, found, encoding);
  }

  /** The bytes of an answer count while they are in memory for one request alone, and until they are sent. */
  async function send(read: Read, found: Answer | Streamed, again: () => Promise<Answer | Streamed>) {
    const { request, reply, integration } = read;
    const encoding = encodingOf(request.headers, found);
    const body = await bodyOf(read, found, encoding);
    const weight = body === null ? STREAMED_BYTES : body.length;
    if (request.method === 'HEAD' || weight < COUNTED_BYTES) {
      setHeaders(reply, found, encoding);
      return body === null ? sendHead(reply) : await reply.send(body);
    }
    const release = limits.tryBytes(shareOf(integration), weight);
    if (release !== null) return await sendCounted(read, found, encoding, body, release);
    return await sendLater(read, weight, again);
  }

  /** Waits with nothing in memory; what is sent then is read anew. */
  async function sendLater(read: Read, weight: number, again: () => Promise<Answer | Streamed>) {
    const release = await limits.waitForBytes(waitOf(read), weight);
    try {
      const found = await again();
      const encoding = encodingOf(read.request.headers, found);
      const body = await bodyOf(read, found, encoding);
      return await sendCounted(read, found, encoding, body, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async function sendCounted(
    read: Read,
    found: Answer | Streamed,
    encoding: Encoding,
    body: Buffer | null,
    release: Release,
  ): Promise<unknown> {
    const { request, reply } = read;
    setHeaders(reply, found, encoding);
    if (body !== null) {
      limitSending(reply.raw, { pieceLimitMs, release });
      return await reply.send(body);
    }
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
      const obtain = async () => answers.find(integration, read.key) ?? (await make(read, build));
      const found = await obtain();
      // A URL with ignored parameters is unusual: its answer names them, so the framework answers it each time.
      if (!reply.hasHeader('x-ignored-fields')) answers.rememberUrl(integration, request.raw.url ?? '', read.key);
      if (isMatch(request.headers['if-none-match'], found.etag)) {
        if (found.version !== null) reply.header('x-api-version', found.version);
        setPairs(reply, validators(found.etag));
        return reply.code(304).send();
      }
      return await send(read, found, obtain);
    },
  };
}

function waitOf({ integration, reply }: Read): ReadWait {
  return { share: shareOf(integration), reply };
}

function encodingOf(headers: IncomingHttpHeaders, found: Answer | Streamed): Encoding {
  const isSmall = 'bodies' in found && found.bodies.identity.length < COMPRESS_MIN_BYTES;
  return isSmall ? 'identity' : acceptedEncoding(headers['accept-encoding']);
}

function setHeaders(reply: FastifyReply, { version, etag }: Answer | Streamed, encoding: Encoding): void {
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
