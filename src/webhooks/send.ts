import type { Socket } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { ForbiddenAddressError, type Guard } from './guard.ts';
import { ATTEMPT_TIMEOUT_MS } from './schedule.ts';

/** One attempt: what is posted where. */
export type Attempt = { url: string; headers: Record<string, string>; body: string };

/** How an attempt ended. A response that is not 2xx is a failure with a code; without any response there is an error. */
export type AttemptResult = {
  isSuccess: boolean;
  responseCode: number | null;
  /** The beginning of the response, for the dealer to look at. */
  responseBody: string | null;
  error: string | null;
};

export type Sender = { send(attempt: Attempt): Promise<AttemptResult>; close(): Promise<void> };

const READ_LIMIT_BYTES = 64 * 1024;
const KEEP_LIMIT_BYTES = 1024;
const HEADERS_LIMIT_BYTES = 16 * 1024;
const IDLE_CONNECTION_MS = 30_000;

export type SenderOptions = {
  guard: Guard;
  /** Connections to one receiver. */
  connectionsPerReceiver: number;
  timeoutMs?: number;
};

/** Posts webhooks: kept-alive connections, no redirects, a bounded read, and one deadline for everything. */
export function createSender({ guard, connectionsPerReceiver, timeoutMs = ATTEMPT_TIMEOUT_MS }: SenderOptions): Sender {
  const connector = buildConnector({ lookup: guard.lookup, timeout: timeoutMs, keepAlive: true });
  const agent = new Agent({
    connections: connectionsPerReceiver,
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    connect(options, done) {
      connector(options, (error, socket) => {
        if (error !== null) return done(error, null);
        // The last word is with the address that the connection really has, whatever the name resolved to.
        const address = (socket as Socket).remoteAddress ?? '';
        if (guard.isAllowed(address)) return done(null, socket);
        socket.destroy();
        return done(new ForbiddenAddressError(options.hostname), null);
      });
    },
  });

  return {
    async send({ url, headers, body }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new Error('timed out')), timeoutMs);
      try {
        const response = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
          signal: deadline.signal,
        });
        const responseBody = await readStart(response.body);
        const { statusCode } = response;
        const isSuccess = statusCode >= 200 && statusCode < 300;
        return { isSuccess, responseCode: statusCode, responseBody, error: null };
      } catch (error) {
        const message = deadline.signal.aborted
          ? `no complete response within ${timeoutMs / 1000} s`
          : messageOf(error);
        return { isSuccess: false, responseCode: null, responseBody: null, error: message };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Reads to the end, or to the limit; what comes after is not read and the connection is given up. */
async function readStart(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string | null> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  for await (const chunk of body) {
    if (keptBytes < KEEP_LIMIT_BYTES) {
      const part = chunk.subarray(0, KEEP_LIMIT_BYTES - keptBytes);
      kept.push(part);
      keptBytes += part.length;
    }
    readBytes += chunk.length;
    if (readBytes > READ_LIMIT_BYTES) {
      body.destroy();
      break;
    }
  }
  // PostgreSQL's text takes no NUL, and the cut may have gone through a character.
  return keptBytes === 0 ? null : Buffer.concat(kept).toString('utf8').replaceAll('\0', '\u{fffd}');
}

const MESSAGE_LIMIT = 200;

function messageOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: string };
  const text = [code, message].filter(Boolean).join(': ') || 'the connection failed';
  return text.slice(0, MESSAGE_LIMIT);
}
