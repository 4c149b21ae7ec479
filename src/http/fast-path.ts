import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';

/** Answers a request, or passes it on to the framework. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse, useFramework: () => void) => void;

/** A path around the framework for requests that hardly need one. Until it is opened, the framework answers every request. */
export type FastPath = {
  open(handler: RequestHandler): void;
  createServer(options: ServerOptions, framework: (request: IncomingMessage, response: ServerResponse) => void): Server;
};

export function createFastPath(): FastPath {
  let fastPath: RequestHandler = (_request, _response, useFramework) => useFramework();
  return {
    open(handler) {
      fastPath = handler;
    },
    createServer: (options, framework) =>
      createServer(options, (request, response) => fastPath(request, response, () => framework(request, response))),
  };
}
