import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { createSingleFlight } from '../../concurrency/single-flight.ts';

/** The addresses that a name leads to. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** The system's name servers and a timeout that fits the deadline of an attempt, unless a test passes its own. */
export type DnsOptions = { servers?: string[]; timeoutMs?: number };

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;
/** Of each family. A name may have thousands, and each of them is checked and tried. */
const ADDRESSES_LIMIT = 8;

/**
 * Asks the name servers and nobody else: neither the hosts file nor search domains lead into our own network. It also
 * keeps endpoints apart. The system's lookup occupies one of four threads until it has an answer, so that four names
 * whose servers are silent would make everybody wait.
 */
export function resolveByDns({ servers, timeoutMs = DNS_TIMEOUT_MS }: DnsOptions = {}): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
    if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
    return found;
  };
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  const addresses = answer.status === 'fulfilled' ? answer.value.slice(0, ADDRESSES_LIMIT) : [];
  return addresses.map((address) => ({ address, family }));
}

/** The answer that any program on this machine gets; for development. */
export const resolveBySystem: Resolve = async (hostname) =>
  await new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

/** Connections to one name that are opened at the same time share a question. */
export function withSharedLookups(resolve: Resolve): Resolve {
  const askOnce = createSingleFlight<LookupAddress[]>();
  return (hostname) => askOnce(hostname, () => resolve(hostname));
}
