import type { FastifyRequest } from 'fastify';
import { onceClosed } from './once-closed.ts';

/** Aborted if the client disconnects before its answer is complete, because nobody needs the rest of the work. */
export function clientSignal({ response }: FastifyRequest): AbortSignal {
  const gone = new AbortController();
  if (response === null || response.destroyed) gone.abort();
  else {
    onceClosed(response, () => {
      if (!response.writableFinished) gone.abort();
    });
  }
  return gone.signal;
}
