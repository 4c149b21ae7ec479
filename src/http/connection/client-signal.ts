import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What parses a body is not handed the reply, so it is remembered by its request. */
const responses = new WeakMap<FastifyRequest, ServerResponse>();

/** Called for each request before anything else. */
export function followClient(request: FastifyRequest, reply: FastifyReply): void {
  responses.set(request, reply.raw);
}

/** Aborted when the client goes before its answer is complete: nobody needs the rest of the work. */
export function clientSignal(request: FastifyRequest): AbortSignal {
  const gone = new AbortController();
  const response = responses.get(request);
  // It may have gone already, while something was waited for.
  if (response === undefined || response.destroyed) gone.abort();
  response?.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
