import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../dealers/users/client-network.ts';
import { isTrusted, plainAddress, type TrustedProxies } from './client-address.ts';
import type { UnansweredRequests } from './unanswered-requests.ts';

export type ConnectionLimit = {
  perAddress: number;
  /** Of all addresses together. */
  total: number;
  /** They speak for many clients, and are not counted. */
  trustedProxies: TrustedProxies;
  unanswered: UnansweredRequests;
  /** Answers a connection that is one too many, of this address or (null) of all. No request of it is read. */
  refuse(socket: Socket, address: string | null): void;
  /** One too many was closed without an answer. */
  onCut(address: string | null): void;
};

/** So many wait at a time to read their refusal. Those beyond are cut without one, which costs next to nothing. */
const REFUSED_AT_ONCE_LIMIT = 50;

/**
 * Limits how many connections one address has open, and all together: files, webhooks and the database need descriptors, too.
 * With all of them taken, a newcomer gets the place of the oldest connection of whoever has most, unless that is itself. Each costs memory and, when many close at the same moment, time in one
 * go: the event loop hears of up to a thousand at once, and whoever else has sent something waits until it has closed them.
 */
export function limitConnections(server: Server, limit: ConnectionLimit): Server {
  const { perAddress, total, trustedProxies } = limit;
  const open = new Map<string, Set<Socket>>();
  let openCount = 0;
  let refusedAtOnce = 0;
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const accept = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };

  function begin(socket: Socket): void {
    openCount += 1;
    socket.once('close', () => {
      openCount -= 1;
    });
    accept(socket);
  }

  /** Whether there is room for one more of a network that has so many. */
  function makeRoom(own: number): boolean {
    if (openCount < total) return true;
    let largest: [network: string, sockets: Set<Socket>] = ['', new Set()];
    for (const entry of open) if (entry[1].size > largest[1].size) largest = entry;
    const [network, sockets] = largest;
    const [oldest] = sockets;
    if (oldest === undefined || sockets.size <= own + 1) return false;
    forget(network, oldest);
    oldest.destroy();
    return true;
  }

  function forget(network: string, socket: Socket): void {
    const own = open.get(network);
    own?.delete(socket);
    if (own?.size === 0) open.delete(network);
  }

  function turnAway(socket: Socket, address: string | null): void {
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
    if (isTrusted(address, trustedProxies)) return makeRoom(0) ? begin(socket) : turnAway(socket, null);
    const network = networkOf(address);
    if (limit.unanswered.isShutOut(network)) {
      socket.destroy();
      return;
    }
    const own = open.get(network) ?? new Set();
    if (own.size >= perAddress) return turnAway(socket, address);
    if (!makeRoom(own.size)) return turnAway(socket, null);
    open.set(network, own.add(socket));
    socket.once('close', () => forget(network, socket));
    begin(socket);
  });
}
