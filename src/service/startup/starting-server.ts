import { createServer, type Server } from 'node:http';
import { ApiError, errorEnvelope } from '../../contract/errors.ts';
import { CURRENT_VERSION } from '../../contract/versions.ts';
import { StartError } from '../../db/start-error.ts';
import { securityHeaders } from '../../http/security-headers.ts';
import { newRequestId } from '../../ids/request-id.ts';
import { type ListenAddress, listenProblem } from './port.ts';

/**
 * Holds the port while the service starts and answers every request with 503 `not_ready`. So a port that is taken is
 * found before a database is started for nothing, and a migration that takes an hour looks like a start, not like a
 * dead machine.
 */
export type StartingServer = {
  /** Lets the port go. */
  close(): void;
};

export async function listenWhileStarting(address: ListenAddress, publicUrl: string): Promise<StartingServer> {
  const server = createServer((_request, response) => {
    const requestId = newRequestId();
    const error = new ApiError('not_ready', { message: 'The service is starting.' });
    response.writeHead(error.status, {
      ...securityHeaders,
      'x-request-id': requestId,
      'x-api-version': CURRENT_VERSION,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
    });
    response.end(JSON.stringify(errorEnvelope(error, requestId, publicUrl)));
  });
  await listen(server, address);
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new StartError(listenProblem(error, address))));
    server.listen({ host: address.host, port: address.port }, resolve);
  });
  server.on('error', () => {});
}
