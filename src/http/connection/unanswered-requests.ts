import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UNANSWERED_REQUESTS_LIMIT } from '../../contract/limits.ts';
import { networkOf } from '../../dealers/users/client-network.ts';
import { plainAddress } from './client-address.ts';

/**
 * Cuts connections that send more and more requests without waiting for answers. Node stops reading such a connection only
 * when answers pile up, so one packet after the other became thousands of requests, 10 KB each, before the first of them had
 * begun: forty connections with 4 MiB of the shortest requests took all memory.
 *
 * A packet has been parsed to its end by then, which may be two thousand requests and a twentieth of a second. So a network
 * whose connections are cut again and again loses all of them and can't open new ones for a while.
 */
export type UnansweredRequests = {
  /** Whether a request may be served. Most requests come alone and cost nothing here. */
  isWithinLimit(request: IncomingMessage, response: ServerResponse): boolean;
  /** Whether connections of this network were cut so often that a new one is not accepted. */
  isShutOut(network: string): boolean;
  /** Called when a network is shut out: what its other connections have sent is not parsed any more. */
  onShutOut(listener: (network: string) => void): void;
};

const CUTS_LIMIT = 2;
const SHUT_OUT_MS = 10_000;

/** How many requests of a connection wait behind one that is not answered yet. */
const WAITING = Symbol('waiting requests');
type CountedSocket = Socket & { [WAITING]?: number };

export function limitUnanswered(now: () => number = () => performance.now()): UnansweredRequests {
  /** How often connections of each network were cut in this period. */
  let cuts = new Map<string, number>();
  let endsAtMs = 0;
  let shutOut: (network: string) => void = () => {};

  function cut(socket: Socket): void {
    // The address of a connection that is closed is not known any more.
    const network = networkOf(plainAddress(socket.remoteAddress ?? ''));
    if (now() >= endsAtMs) {
      cuts = new Map();
      endsAtMs = now() + SHUT_OUT_MS;
    }
    const count = (cuts.get(network) ?? 0) + 1;
    cuts.set(network, count);
    destroyQuickly(socket);
    if (count === CUTS_LIMIT) shutOut(network);
  }

  return {
    isWithinLimit(request, response) {
      // Node gives a response its connection when all that were asked for before it are sent.
      if (response.socket !== null) return true;
      const socket: CountedSocket = request.socket;
      if (socket.destroyed) return false;
      const waiting = (socket[WAITING] ?? 0) + 1;
      if (waiting > UNANSWERED_REQUESTS_LIMIT) {
        cut(socket);
        return false;
      }
      socket[WAITING] = waiting;
      response.once('close', () => {
        socket[WAITING] = (socket[WAITING] ?? 1) - 1;
      });
      return true;
    },
    isShutOut: (network) => (cuts.get(network) ?? 0) >= CUTS_LIMIT && now() < endsAtMs,
    onShutOut(listener) {
      shutOut = listener;
    },
  };
}

/** Node makes an error for each request of a connection that closes. Where it was made is most of its cost, and interests nobody. */
function destroyQuickly(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  socket.destroy();
}
