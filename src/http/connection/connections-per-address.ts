import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isTrusted, networkOf, plainAddress, type TrustedProxies } from './client-address.ts';
import type { UnansweredRequests } from './unanswered-requests.ts';

export type ConnectionLimit = {
  perAddress: number;
  /** They speak for many clients, and are not counted. */
  trustedProxies: TrustedProxies;
  unanswered: UnansweredRequests;
  /** Answers a connection that is one too many. No request of it is read. */
  refuse(socket: Socket, address: string): void;
  /** One too many was closed without an answer. */
  onCut(address: string): void;
};

/** So many wait at a time to read their refusal. Those beyond are cut without one, which costs next to nothing. */
const REFUSED_AT_ONCE_LIMIT = 50;

/**
 * Limits how many connections one address has open. Each costs memory and, when many close at the same moment, time in one
 * go: the event loop hears of up to a thousand at once, and whoever else has sent something waits until it has closed them.
 */
export function limitConnections(server: Server, limit: ConnectionLimit): Server {
  const { perAddress, trustedProxies } = limit;
  const open = new Map<string, Set<Socket>>();
  let refusedAtOnce = 0;
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const accept = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };

  function forget(network: string, socket: Socket): void {
    const own = open.get(network);
    own?.delete(socket);
    if (own?.size === 0) open.delete(network);
  }

  function turnAway(socket: Socket, address: string): void {
    if (refusedAtOnce === REFUSED_AT_ONCE_LIMIT) {
      socket.destroy();
      limit.onCut(address);
      return;
    }
    refusedAtOnce += 1;
    socket.once('close', () => {
      refusedAtOnce -= 1;
    });
    limit.refuse(socket, address);
  }

  limit.unanswered.onShutOut((network) => {
    for (const socket of open.get(network) ?? []) socket.destroy();
  });

  // Node's own listener would read requests of a connection that has its refusal already.
  return server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (isTrusted(address, trustedProxies)) return accept(socket);
    const network = networkOf(address);
    if (limit.unanswered.isShutOut(network)) {
      socket.destroy();
      return;
    }
    const own = open.get(network) ?? new Set();
    if (own.size >= perAddress) return turnAway(socket, address);
    open.set(network, own.add(socket));
    socket.once('close', () => forget(network, socket));
    accept(socket);
  });
}
