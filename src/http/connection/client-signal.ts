import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onceClosed } from './once-closed.ts';

/** A body parser does not get the reply, so the response is stored under the request. */
const responses = new WeakMap<FastifyRequest, ServerResponse>();

/** Called for each request before anything else. */
export function followClient(request: FastifyRequest, reply: FastifyReply): void {
  responses.set(request, reply.raw);
}

/** Aborted if the client disconnects before its answer is complete, because nobody needs the rest of the work. */
export function clientSignal(request: FastifyRequest): AbortSignal {
  const gone = new AbortController();
  const response = responses.get(request);
  if (response === undefined || response.destroyed) gone.abort();
  else {
    onceClosed(response, () => {
      if (!response.writableFinished) gone.abort();
    });
  }
  return gone.signal;
}
