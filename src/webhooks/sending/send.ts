import { Agent, type Dispatcher } from 'undici';
import { WEBHOOK_RESPONSE_HEADERS_LIMIT_BYTES } from '../../contract/limits.ts';
import { guardedConnector } from './guarded-connector.ts';
import { EnoughRead, WEBHOOK_RESPONSE } from './response-limit.ts';
import type { SsrfGuard } from './ssrf-guard.ts';

/** One attempt: what is posted where, and for whom. */
export type Attempt = { dealer: string; url: string; headers: Record<string, string>; body: string };

/** How an attempt ended. A response that is not 2xx is a failure with a code; without any response there is an error. */
export type AttemptResult = {
  isSuccess: boolean;
  responseCode: number | null;
  /** The beginning of the response, for the dealer to look at. */
  responseBody: string | null;
  error: string | null;
};

export type Sender = { send(attempt: Attempt): Promise<AttemptResult>; close(): Promise<void> };

const KEEP_LIMIT_BYTES = 1024;
/** Some servers close sooner than they say; a connection that waits longer may be half dead when it is needed. */
const IDLE_CONNECTION_MS = 4_000;
const IDLE_CONNECTION_MAX_MS = 30_000;
const MESSAGE_LIMIT = 200;
/** Names are resolved when a connection is made: under steady traffic one would never notice that a receiver has moved. */
export const CONNECTION_AGE_MS = 60_000;

export type SenderOptions = { guard: SsrfGuard; timeoutMs: number; connectionAgeMs?: number; ca?: string };

/**
 * Posts webhooks: kept-alive connections, no redirects, a bounded read, and one deadline for everything. Dealers share no
 * connection: whoever writes a second response on one would answer what another dealer sends there next.
 */
export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, connectionAgeMs = CONNECTION_AGE_MS } = options;
  /** By dealer, those that take new attempts; and those before them that still have attempts in flight. */
  let agents = new Map<string, Agent>();
  const retiring = new Set<Agent>();
  let bornAtMs = performance.now();

  /**
   * All connections are replaced at once, by those of new agents. undici's own limit on their age (clientTtl) asks every connection
   * of an origin for its age, twice for each attempt: with 512 of them that was a quarter of the worker's CPU time.
   */
  function retireOld(): void {
    if (performance.now() - bornAtMs < connectionAgeMs) return;
    for (const old of agents.values()) {
      retiring.add(old);
      // Resolves when its last attempt has ended.
      void old.close().finally(() => retiring.delete(old));
    }
    agents = new Map();
    bornAtMs = performance.now();
  }

  function agentOf(dealer: string): Agent {
    retireOld();
    const known = agents.get(dealer);
    if (known !== undefined) return known;
    const agent = createAgent(options, dealer);
    agents.set(dealer, agent);
    return agent;
  }

  return {
    send: (attempt) => new Promise((resolve) => post(agentOf(attempt.dealer), attempt, timeoutMs, resolve)),
    async close() {
      await Promise.all([...agents.values(), ...retiring].map((each) => each.destroy()));
    },
  };
}

function createAgent({ guard, timeoutMs, ca }: SenderOptions, dealer: string): Agent {
  // As many connections as there are attempts, which the delivery worker limits: waiting for one would cost the deadline.
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MAX_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: WEBHOOK_RESPONSE_HEADERS_LIMIT_BYTES,
    allowH2: false,
    connect: guardedConnector(guard, { timeoutMs, dealer, responses: WEBHOOK_RESPONSE, ca }),
  });
}

/** An attempt that ended without a response. */
export function failure(message: string): AttemptResult {
  return { isSuccess: false, responseCode: null, responseBody: null, error: storable(message.slice(0, MESSAGE_LIMIT)) };
}

/**
 * The exchange itself, on the client's callbacks: streams and signals for each attempt cost twice the time. Whichever
 * comes first ends it: the response's end, more of it than is read, a fault, or the deadline.
 */
function post(agent: Agent, attempt: Attempt, timeoutMs: number, onEnd: (result: AttemptResult) => void): void {
  let controller: Dispatcher.DispatchController | null = null;
  let responseCode = 0;
  let keptBytes = 0;
  const kept: Buffer[] = [];
  let isOver = false;

  const deadline = setTimeout(() => {
    end(failure(`no complete response within ${timeoutMs / 1000} s`));
    controller?.abort(new Error('the time is up'));
  }, timeoutMs);

  function end(result: AttemptResult): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(deadline);
    onEnd(result);
  }

  function answered(): AttemptResult {
    const isSuccess = responseCode >= 200 && responseCode < 300;
    const responseBody = keptBytes === 0 ? null : storable(Buffer.concat(kept).toString('utf8'));
    return { isSuccess, responseCode, responseBody, error: null };
  }

  try {
    const { origin, pathname, search } = new URL(attempt.url);
    const { headers, body } = attempt;
    agent.dispatch(
      { origin, path: `${pathname}${search}`, method: 'POST', headers, body },
      {
        onRequestStart(started) {
          controller = started;
          if (isOver) started.abort(new Error('the time is up'));
        },
        onResponseStart(_, statusCode) {
          responseCode = statusCode;
        },
        onResponseData(_, chunk) {
          if (keptBytes >= KEEP_LIMIT_BYTES) return;
          // A copy, since a slice would keep all of the chunk alive.
          const part = Buffer.from(chunk.subarray(0, KEEP_LIMIT_BYTES - keptBytes));
          kept.push(part);
          keptBytes += part.length;
        },
        onResponseEnd: () => end(answered()),
        onResponseError(_, error) {
          const isAnswered = error instanceof EnoughRead && responseCode !== 0;
          end(isAnswered ? answered() : failure(messageOf(error)));
        },
      },
    );
  } catch (error) {
    end(failure(messageOf(error)));
  }
}

/** PostgreSQL's text takes no NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\u{fffd}');
}

/** What Node would have its own operator do; those who read the error run the receiver. */
const NODE_ADVICE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/;

function messageOf(error: unknown): string {
  const { message = '', code = '', reason } = error as { message?: string; code?: string; reason?: string };
  // The message of an error in TLS has addresses in our memory and names of OpenSSL's files.
  const text = code.startsWith('ERR_SSL_') ? (reason ?? '') : message.replace(NODE_ADVICE, '');
  return [code, text].filter(Boolean).join(': ') || 'the connection failed';
}
