import { isIP, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { limitResponses } from './response-limit.ts';
import { ForbiddenAddressError, PlainProtocolError, type SsrfGuard } from './ssrf-guard.ts';

/** Checks protocol and address before anything is sent there, and has the last word on the one that a connection really has. */
export function guardedConnector(guard: SsrfGuard, timeoutMs: number): buildConnector.connector {
  const connector = buildConnector({ lookup: guard.lookup, timeout: timeoutMs, keepAlive: true, allowH2: false });
  return (options, done) => {
    if (!guard.isProtocolAllowed(options.protocol)) return done(new PlainProtocolError(), null);
    // Only names are resolved, and so checked by the lookup.
    if (isIP(options.hostname) !== 0 && !guard.isAllowed(options.hostname)) {
      return done(new ForbiddenAddressError(options.hostname), null);
    }
    connector(options, (error, socket) => {
      if (error !== null) return done(error, null);
      const address = (socket as Socket).remoteAddress ?? '';
      if (guard.isAllowed(address)) {
        limitResponses(socket as Socket);
        return done(null, socket);
      }
      socket.destroy();
      return done(new ForbiddenAddressError(options.hostname), null);
    });
  };
}
