import { constants } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { createMeteredStream } from './metered-stream.ts';
import { limitResponses, type ResponseLimits } from './response-limit.ts';
import { ForbiddenAddressError, PlainProtocolError, type SsrfGuard } from './ssrf-guard.ts';

export type ConnectorOptions = {
  timeoutMs: number;
  /** Whose share of the time for TLS and DNS its connections take. */
  dealer: string;
  responses: ResponseLimits;
  /** The only certificates to trust, for tests. */
  ca?: string | undefined;
};

/**
 * Without DHE: the receiver chooses the group, and a prime of 10,000 bits took two seconds. These are what TLS 1.3 has, and what
 * every server that speaks 1.2 has had for ten years.
 */
const CIPHERS =
  'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES';

/** A new handshake on an open connection could bring any number of certificates. */
const TLS_OPTIONS = {
  ciphers: CIPHERS,
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

let shared: SecureContext | null = null;

/** One for all connections, unless a test has certificates of its own. */
function secureContext(ca: string | undefined): SecureContext {
  if (ca !== undefined) return createSecureContext({ ...TLS_OPTIONS, ca });
  shared ??= createSecureContext(TLS_OPTIONS);
  return shared;
}

/** Checks protocol and address before anything is sent there, and has the last word on the one that a connection really has. */
export function guardedConnector(guard: SsrfGuard, options: ConnectorOptions): buildConnector.connector {
  const { timeoutMs, dealer, responses, ca } = options;
  // What is as short as the answer to a webhook takes little time, however it is cut.
  const withReader = !Number.isFinite(responses.bodyBytes);
  const common = { timeout: timeoutMs, keepAlive: true, allowH2: false };
  const plain = buildConnector({ ...common, lookup: guard.lookupFor(dealer, timeoutMs) });
  let secure: buildConnector.connector | null = null;

  function checked(socket: Socket, hostname: string): Error | null {
    if (guard.isAllowed(socket.remoteAddress ?? '')) return null;
    socket.destroy();
    return new ForbiddenAddressError(hostname);
  }

  function connectPlain(target: buildConnector.Options, done: buildConnector.Callback): void {
    plain(target, (error, socket) => {
      if (error !== null) return done(error, null);
      const problem = checked(socket as Socket, target.hostname);
      if (problem !== null) return done(problem, null);
      const read = withReader ? meteredPlain(socket as Socket) : (socket as Socket);
      limitResponses(read, responses);
      return done(null, read);
    });
  }

  function meteredPlain(socket: Socket): Socket {
    const metered = createMeteredStream(socket, dealer, { withReader });
    // There is no handshake.
    metered.secured();
    return metered as unknown as Socket;
  }

  function connectSecure(target: buildConnector.Options, done: buildConnector.Callback): void {
    const { hostname, port } = target;
    plain({ hostname, port: port || '443', protocol: 'http:' }, (error, raw) => {
      if (error !== null) return done(error, null);
      const problem = checked(raw as Socket, hostname);
      if (problem !== null) return done(problem, null);
      const metered = createMeteredStream(raw as Socket, dealer, { withReader });
      secure ??= buildConnector({ ...common, secureContext: secureContext(ca) });
      secure({ ...target, httpSocket: metered as unknown as Socket }, (failure, socket) => {
        if (failure !== null) return done(failure, null);
        metered.secured();
        limitResponses(socket as Socket, responses);
        return done(null, socket);
      });
    });
  }

  return (target, done) => {
    if (!guard.isProtocolAllowed(target.protocol)) return done(new PlainProtocolError(), null);
    // Only names are resolved, and so checked by the lookup.
    if (isIP(target.hostname) !== 0 && !guard.isAllowed(target.hostname)) {
      return done(new ForbiddenAddressError(target.hostname), null);
    }
    return target.protocol === 'https:' ? connectSecure(target, done) : connectPlain(target, done);
  };
}
