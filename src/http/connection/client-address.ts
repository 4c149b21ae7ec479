import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** The addresses or ranges of proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8. */
export type TrustedProxies = readonly string[];

/**
 * Who sent a request. X-Forwarded-For is read from its end, as far as those who wrote it are trusted; the first address
 * that is not a trusted proxy's is the client's. Without trusted proxies anybody could write anything into the header.
 */
export function clientAddress(request: Pick<IncomingMessage, 'headers' | 'socket'>, trusted: TrustedProxies): string {
  let address = plainAddress(request.socket.remoteAddress ?? '');
  if (trusted.length === 0) return address;
  const header = request.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((hop) => hop.trim());
  while (hops.length > 0 && isTrusted(address, trusted)) {
    const previous = hops.pop() ?? '';
    if (!ipaddr.isValid(previous)) break;
    address = plainAddress(previous);
  }
  return address;
}

/** Says what is wrong with a setting that is neither an address nor a range; null if it is one. */
export function proxyProblem(text: string): string | null {
  if (ipaddr.isValid(text) || ipaddr.isValidCIDR(text)) return null;
  return `${JSON.stringify(text)} is neither an address nor a range such as 10.0.0.0/8`;
}

export function isTrusted(address: string, trusted: TrustedProxies): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trusted.some((entry) => {
    if (!entry.includes('/')) return ipaddr.process(entry).toString() === parsed.toString();
    const [range, bits] = ipaddr.parseCIDR(entry);
    return range.kind() === parsed.kind() && parsed.match(range, bits);
  });
}

/** An IPv4 address that is written as IPv6 counts as the same address. */
export function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
