import { Agent, request } from 'undici';
import { DomainError } from '../../contract/domain-error.ts';
import { PHOTO_LIMIT_BYTES } from '../../contract/limits.ts';
import { guardedConnector } from '../../webhooks/sending/guarded-connector.ts';
import type { SsrfGuard } from '../../webhooks/sending/ssrf-guard.ts';

const REDIRECTS_LIMIT = 3;
/** After so many from one server, a batch asks it no more: other dealers wait for the batch to end. */
const TIMEOUTS_LIMIT = 8;
const HEADERS_LIMIT_BYTES = 16 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** How much of a body is read is decided here, and a large photo comes in thousands of pieces. */
const PHOTO_RESPONSE = { bodyBytes: Number.POSITIVE_INFINITY, pieces: Number.POSITIVE_INFINITY };

/** Downloads the photos of one batch, which shares its connections and closes them at its end. */
export type PhotoDownloads = { download(url: string, timeoutMs: number): Promise<Buffer>; close(): Promise<void> };

/**
 * An address that a dealer types must not reach into the service's own network, so the SSRF guard of webhooks checks
 * it.
 */
export function openPhotoDownloads(guard: SsrfGuard, dealer: string, connectTimeoutMs: number): PhotoDownloads {
  const agent = new Agent({
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    allowH2: false,
    connect: guardedConnector(guard, { timeoutMs: connectTimeoutMs, dealer, responses: PHOTO_RESPONSE }),
  });
  const timeoutsByHost = new Map<string, number>();
  return {
    async download(url, timeoutMs) {
      const host = URL.parse(url)?.host ?? '';
      const timeouts = timeoutsByHost.get(host) ?? 0;
      if (timeouts >= TIMEOUTS_LIMIT) throw refused(url, 'was not tried, because others from there took too long');
      const signal = AbortSignal.timeout(Math.max(timeoutMs, 1));
      try {
        return await follow(agent, guard, url, signal);
      } catch (error) {
        if (error instanceof DomainError) throw error;
        if (!signal.aborted) throw refused(url, `can't be reached (${messageOf(error)})`);
        timeoutsByHost.set(host, (timeoutsByHost.get(host) ?? 0) + 1);
        throw refused(url, 'took too long');
      }
    },
    close: () => agent.destroy(),
  };
}

/** Every redirect is checked, not only the first address. */
async function follow(agent: Agent, guard: SsrfGuard, first: string, signal: AbortSignal): Promise<Buffer> {
  let url = first;
  for (let redirects = 0; redirects <= REDIRECTS_LIMIT; redirects++) {
    const problem = guard.problemOf(url);
    if (problem !== null) throw refused(first, problem);
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal,
      headers: { accept: 'image/*' },
    });
    // A body that is not read to its end emits an error, which nobody waits for any more.
    body.on('error', () => {});
    const { location } = headers;
    if (REDIRECTS.has(statusCode) && typeof location === 'string' && URL.canParse(location, url)) {
      url = new URL(location, url).href;
      await body.dump({ limit: HEADERS_LIMIT_BYTES, signal });
      continue;
    }
    if (statusCode !== 200) {
      body.destroy();
      throw refused(first, `answered ${statusCode}`);
    }
    return await readBounded(first, body, Number(headers['content-length'] ?? 0));
  }
  throw refused(first, `leads to more than ${REDIRECTS_LIMIT} other addresses`);
}

async function readBounded(url: string, body: AsyncIterable<Buffer>, announced: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = announced;
  if (bytes <= PHOTO_LIMIT_BYTES) {
    bytes = 0;
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > PHOTO_LIMIT_BYTES) break;
      pieces.push(piece);
    }
  }
  if (bytes > PHOTO_LIMIT_BYTES) throw refused(url, 'has more than 25 MB');
  return Buffer.concat(pieces);
}

const SHOWN_URL_LENGTH = 200;

function refused(url: string, reason: string): DomainError {
  return new DomainError('invalid_input', `The photo at ${url.slice(0, SHOWN_URL_LENGTH)} ${reason}.`, 'photos');
}

function messageOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: string };
  return code || message || 'no connection';
}
