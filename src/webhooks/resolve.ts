import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** The addresses that a name leads to. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });

/**
 * Asks the name servers and nobody else: neither the hosts file nor search domains lead into our own network. It also
 * keeps receivers apart. The system's lookup occupies one of four threads until it has an answer, so that four names
 * whose servers are silent would make everybody wait.
 */
export const resolveByDns: Resolve = async (hostname) => {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [
    ...(ipv4.status === 'fulfilled' ? ipv4.value.map((address) => ({ address, family: 4 })) : []),
    ...(ipv6.status === 'fulfilled' ? ipv6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return found;
};

/** What any program on this machine would be told; for development. */
export const resolveBySystem: Resolve = async (hostname) =>
  await new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

/** Connections to one name that are opened at the same time share a question. */
export function sharing(resolve: Resolve): Resolve {
  const asking = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const known = asking.get(hostname);
    if (known !== undefined) return known;
    const answer = resolve(hostname).finally(() => asking.delete(hostname));
    asking.set(hostname, answer);
    return answer;
  };
}
