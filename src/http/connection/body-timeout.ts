import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Timeouts } from '../app-options.ts';
import type { ClientFaults } from './client-faults.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes a file, which may need minutes on a slow connection. */
    isUpload?: boolean;
  }
}

/**
 * Bodies must arrive in time. Node has one time limit for all requests of a server, which is that of uploads. This adds
 * a shorter limit for all other requests.
 *
 * The deadline is that of the connection, which has one request at a time: a map of requests would keep each of them in memory
 * until the next round.
 */
export function limitBodyTime(app: FastifyInstance, timeouts: Timeouts, faults: ClientFaults): void {
  const deadlines = new Map<Socket, number>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request;
    const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0;
    if (hasBody && !raw.complete && request.routeOptions.config.isUpload !== true) {
      deadlines.set(raw.socket, performance.now() + timeouts.requestMs);
    } else {
      // That of a request before it, whose body has come.
      deadlines.delete(raw.socket);
    }
    done();
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, deadline] of deadlines) {
      const isOver = socket.destroyed || !faults.isReceiving(socket);
      if (!isOver && deadline > now) continue;
      deadlines.delete(socket);
      if (!isOver) faults.handle(lateRequest(), socket);
    }
  }, timeouts.checkEveryMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

/** The code that Node gives to such an error. */
function lateRequest(): NodeJS.ErrnoException {
  return Object.assign(new Error('the request did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
