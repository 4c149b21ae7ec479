import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { ForbiddenAddressError, type Guard } from './guard.ts';

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
/** Some servers close sooner than they say; a connection that waits longer may be half dead when it is needed. */
const IDLE_CONNECTION_MS = 4_000;
const IDLE_CONNECTION_MAX_MS = 30_000;
const MESSAGE_LIMIT = 200;

/** Posts webhooks: kept-alive connections, no redirects, a bounded read, and one deadline for everything. */
export function createSender({ guard, timeoutMs }: { guard: Guard; timeoutMs: number }): Sender {
  // As many connections as there are attempts, which the engine limits: waiting for one would cost the deadline.
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MAX_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    allowH2: false,
    connect: guardedConnector(guard, timeoutMs),
  });

  return {
    async send({ url, headers, body }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      try {
        const { signal } = deadline;
        const response = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal });
        const responseBody = await readStart(response.body);
        const { statusCode: responseCode } = response;
        return { isSuccess: responseCode >= 200 && responseCode < 300, responseCode, responseBody, error: null };
      } catch (error) {
        if (deadline.signal.aborted) return failure(`no complete response within ${timeoutMs / 1000} s`);
        return failure(messageOf(error));
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

/** An attempt that ended without a response. */
export function failure(message: string): AttemptResult {
  return { isSuccess: false, responseCode: null, responseBody: null, error: storable(message.slice(0, MESSAGE_LIMIT)) };
}

/** Checks an address before anything is sent there, and has the last word on the one that a connection really has. */
function guardedConnector(guard: Guard, timeoutMs: number): buildConnector.connector {
  const connector = buildConnector({ lookup: guard.lookup, timeout: timeoutMs, keepAlive: true, allowH2: false });
  return (options, done) => {
    // Only names are resolved, and so checked by the lookup.
    if (isIP(options.hostname) !== 0 && !guard.isAllowed(options.hostname)) {
      return done(new ForbiddenAddressError(options.hostname), null);
    }
    connector(options, (error, socket) => {
      if (error !== null) return done(error, null);
      const address = (socket as Socket).remoteAddress ?? '';
      if (guard.isAllowed(address)) return done(null, socket);
      socket.destroy();
      return done(new ForbiddenAddressError(options.hostname), null);
    });
  };
}

/** Reads to the end, or to the limit; what comes after is not read and the connection is given up. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string | null> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  for await (const chunk of body) {
    if (keptBytes < KEEP_LIMIT_BYTES) {
      // A copy, since a slice would keep all of the chunk alive.
      const part = Buffer.from(chunk.subarray(0, KEEP_LIMIT_BYTES - keptBytes));
      kept.push(part);
      keptBytes += part.length;
    }
    readBytes += chunk.length;
    // Leaving the loop destroys the body.
    if (readBytes > READ_LIMIT_BYTES) break;
  }
  return keptBytes === 0 ? null : storable(Buffer.concat(kept).toString('utf8'));
}

/** PostgreSQL's text takes no NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}

function messageOf(error: unknown): string {
  const { message = '', code = '' } = error as { message?: string; code?: string };
  return [code, message].filter(Boolean).join(': ') || 'the connection failed';
}
