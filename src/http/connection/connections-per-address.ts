import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isTrusted, plainAddress, type TrustedProxies } from './client-address.ts';

export type ConnectionLimit = {
  perAddress: number;
  /** They speak for many clients, and are not counted. */
  trustedProxies: TrustedProxies;
  /** Answers a connection that is one too many. No request of it is read. */
  refuse(socket: Socket, address: string): void;
  /** One too many was closed without an answer. */
  onCut(address: string): void;
};

/** So many wait at a time to read their refusal. Those beyond are cut without one, which costs next to nothing. */
const REFUSED_AT_ONCE_LIMIT = 50;
/** A network of IPv6: the least that a customer of an internet provider has. */
const IPV6_NETWORK_BYTES = 8;

/**
 * Limits how many connections one address has open. Each costs memory and, when many close at the same moment, time in one
 * go: the event loop hears of up to a thousand at once, and whoever else has sent something waits until it has closed them.
 */
export function limitConnections(server: Server, limit: ConnectionLimit): Server {
  const { perAddress, trustedProxies } = limit;
  const open = new Map<string, number>();
  let refusedAtOnce = 0;
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const accept = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };

  function forget(address: string): void {
    const left = (open.get(address) ?? 1) - 1;
    if (left === 0) open.delete(address);
    else open.set(address, left);
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

  // Node's own listener would read requests of a connection that has its refusal already.
  return server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (isTrusted(address, trustedProxies)) return accept(socket);
    const network = networkOf(address);
    const count = (open.get(network) ?? 0) + 1;
    if (count > perAddress) return turnAway(socket, address);
    open.set(network, count);
    socket.once('close', () => forget(network));
    accept(socket);
  });
}

function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  // One network stands for all IPv4 addresses that a translator (NAT64) speaks for.
  if (parsed.range() === 'rfc6052') return address;
  return parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES).join('.');
}
