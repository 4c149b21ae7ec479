import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';

/** Answers a request by itself, or sends it the long way through the framework. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, goLongWay: () => void) => void;

/** A way around the framework for requests that hardly need one. It is closed until somebody opens it. */
export type ShortWay = {
  open(handler: RequestHandler): void;
  createServer(options: ServerOptions, framework: (request: IncomingMessage, response: ServerResponse) => void): Server;
};

export function createShortWay(): ShortWay {
  let shortWay: RequestHandler = (_request, _response, goLongWay) => goLongWay();
  return {
    open(handler) {
      shortWay = handler;
    },
    createServer: (options, framework) =>
      createServer(options, (request, response) => shortWay(request, response, () => framework(request, response))),
  };
}
