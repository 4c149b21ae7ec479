import { type ByteCache, createByteCache } from '../../../channel/reads/byte-cache.ts';
import type { Encoding } from '../../accept-encoding.ts';
import { weakEtagOf } from '../../etag.ts';
import type { AdmittedIntegration } from '../authentication.ts';
import { compressors } from './compression.ts';

/** A whole answer in memory, in the encodings that were asked for so far. */
export type Answer = {
  /** The clock and the pinned version of the request that made it, or that last found the same bytes. */
  clockMs: number;
  apiVersion: string;
  bodies: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
  /** Made from the bytes, so that it is true whatever moved the clock. */
  etag: string;
  /** The version of what was read, if a roll may have moved the pin since the request was admitted. */
  version: string | null;
  validUntilMs: number | null;
  size: number;
};

export type MadeAnswer = Pick<Answer, 'version' | 'validUntilMs'> & { body: Buffer; isCurrent: boolean };

/**
 * One answer for each question of an integration. Every commit that changes anything a client can read moves the
 * integration's clock, and the clock was read with this very request's key: while the clock has not moved, an answer
 * made under it is still true, except for what expires at a known time.
 *
 * When the clock has moved, the answer is made anew. Most changes are about another item, so most answers come out as
 * they were: comparing the bytes costs a hundredth of hashing and compressing them again.
 */
export type AnswerCache = {
  /** Null if there is none, or if it has to be made anew. */
  find(integration: AdmittedIntegration, question: string): Answer | null;
  /** The same by a URL that is itself the question, or was understood before, so that it need not be parsed again. */
  findByUrl(integration: AdmittedIntegration, url: string): Answer | null;
  rememberUrl(integration: AdmittedIntegration, url: string, question: string): void;
  keep(integration: AdmittedIntegration, question: string, made: MadeAnswer): Answer;
  bodyOf(integration: AdmittedIntegration, question: string, answer: Answer, encoding: Encoding): Promise<Buffer>;
};

type KnownUrl = { key: string; size: number };

/** The share of the memory that known URLs take. */
const URLS_SHARE = 1 / 8;
/** A longer URL names many ids. Sending its answer costs far more than parsing it, and it would only take memory. */
const KNOWN_URL_LIMIT = 1_024;

export function createAnswerCache(maxBytes: number): AnswerCache {
  const answers: ByteCache<Answer> = createByteCache(maxBytes * (1 - URLS_SHARE));
  const urls: ByteCache<KnownUrl> = createByteCache(maxBytes * URLS_SHARE);

  function findByKey({ clockMs, apiVersion, nowMs }: AdmittedIntegration, key: string): Answer | null {
    const answer = answers.get(key);
    if (answer === undefined || answer.clockMs !== clockMs || answer.apiVersion !== apiVersion) return null;
    return answer.validUntilMs === null || nowMs < answer.validUntilMs ? answer : null;
  }

  return {
    find: (integration, question) => findByKey(integration, keyOf(integration, question)),
    findByUrl(integration, url) {
      if (url.length > KNOWN_URL_LIMIT) return null;
      const key = keyOf(integration, url);
      const answer = findByKey(integration, key);
      if (answer !== null) return answer;
      const known = urls.get(key);
      return known === undefined ? null : findByKey(integration, known.key);
    },
    rememberUrl(integration, url, question) {
      if (url.length > KNOWN_URL_LIMIT || url === question) return;
      const key = keyOf(integration, question);
      urls.set(keyOf(integration, url), { key, size: key.length });
    },
    keep(integration, question, { body, version, validUntilMs, isCurrent }) {
      const key = keyOf(integration, question);
      const before = answers.get(key);
      const { clockMs, apiVersion } = integration;
      const { bodies, etag, size } = before?.bodies.identity.equals(body) ? before : newBody(body);
      const answer = { clockMs, apiVersion, bodies, etag, version, validUntilMs, size };
      // A request that took long does not replace what a later one has made.
      if (isCurrent && (before === undefined || before.clockMs <= clockMs)) answers.set(key, answer);
      return answer;
    },
    async bodyOf(integration, question, answer, encoding) {
      const { identity, [encoding]: known } = answer.bodies;
      if (known !== undefined || encoding === 'identity') return known ?? identity;
      const body = await compressors[encoding](identity);
      const key = keyOf(integration, question);
      const kept = answers.get(key);
      // A new entry, because the cache measures an entry when it comes; one that was not kept stays out.
      if (kept?.bodies.identity === identity) answers.set(key, withBody(kept, encoding, body));
      return body;
    },
  };
}

function keyOf({ integrationId }: AdmittedIntegration, question: string): string {
  return `${integrationId} ${question}`;
}

function newBody(body: Buffer): Pick<Answer, 'bodies' | 'etag' | 'size'> {
  return { bodies: { identity: body }, etag: weakEtagOf(body), size: body.length };
}

function withBody(answer: Answer, encoding: Encoding, body: Buffer): Answer {
  return { ...answer, bodies: { ...answer.bodies, [encoding]: body }, size: answer.size + body.length };
}
