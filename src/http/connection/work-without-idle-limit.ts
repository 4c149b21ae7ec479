import type { FastifyRequest } from 'fastify';

/**
 * Says that the request has arrived whole and that the service works on it, for longer than a connection may be idle. Without this
 * Node cuts the connection, and the client does not hear what became of its request. What the service waits for has limits of its own.
 */
export function workWithoutIdleLimit({ response }: FastifyRequest): void {
  response?.on('timeout', () => {});
}
