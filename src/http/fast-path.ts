import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { hasTooManyHeaders } from './connection/header-count.ts';
import { createRequestTurns } from './connection/request-turns.ts';
import type { Senders } from './connection/senders.ts';
import type { UnansweredRequests } from './connection/unanswered-requests.ts';

/** Answers a request, or passes it on to the framework. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, framework: RequestListener) => void;

/** A path around the framework for requests that hardly need one. Until it is opened, the framework answers every request. */
export type FastPath = {
  open(handler: RequestHandler): void;
  createServer(options: ServerOptions, framework: RequestListener): Server;
};

export function createFastPath(senders: Senders, unanswered: UnansweredRequests): FastPath {
  const turns = createRequestTurns();
  let fastPath: RequestHandler = (request, response, framework) => framework(request, response);
  return {
    open(handler) {
      fastPath = handler;
    },
    createServer: (options, framework) =>
      createServer(options, (request, response) => {
        if (!unanswered.isWithinLimit(request, response)) return;
        const begin = () => {
          // Its client has gone while it waited.
          if (response.destroyed || request.socket.destroyed) return false;
          // The framework refuses it, before it does anything else.
          if (hasTooManyHeaders(request)) framework(request, response);
          else fastPath(request, response, framework);
          return true;
        };
        turns.take(senders.of(request), begin, placesOf(request));
      }),
  };
}

/** A query of 15,000 characters may take 1 to 2 ms to read, so one of them fills a turn. A page's URL has some hundred. */
const CHARACTERS_PER_PLACE = 4_096;

function placesOf({ url = '' }: IncomingMessage): number {
  return 1 + Math.floor(url.length / CHARACTERS_PER_PLACE);
}
