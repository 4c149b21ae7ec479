import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { dnsLookups, type NameLookups, systemLookups } from './dns/name-lookups.ts';

/**
 * Which addresses webhooks may go to. A dealer's URL must not reach into the network the service runs in: the check is
 * made when the URL is saved, on every connection, on every resolution, and on the address that was really connected to.
 */
export type SsrfGuard = {
  /** Why webhooks can't go to a URL, or null if they can. */
  problemOf(url: string): string | null;
  /** Asked again for each connection: a URL may have been saved under settings that are no longer in force. */
  isProtocolAllowed(protocol: string): boolean;
  /** Resolves the names of a dealer's receivers to allowed addresses only. */
  lookupFor(dealer: string, timeoutMs: number): LookupFunction;
  isAllowed(address: string): boolean;
};

const URL_LENGTH_LIMIT = 2_000;

/** With `isPrivateAllowed`, for development, http and private addresses are taken too. */
export function createSsrfGuard(
  isPrivateAllowed: boolean,
  lookUp: NameLookups = isPrivateAllowed ? systemLookups : dnsLookups,
): SsrfGuard {
  const isAllowed = (address: string) => isPrivateAllowed || isPublic(address);
  const isProtocolAllowed = (protocol: string) => protocol === 'https:' || (isPrivateAllowed && protocol === 'http:');

  /** Checked each time they are used, and it is these that are connected to: the lookup may have been one of earlier. */
  async function addressesOf(
    found: Promise<LookupAddress[]>,
    hostname: string,
  ): Promise<[LookupAddress, ...LookupAddress[]]> {
    const [first, ...others] = (await found).filter(({ address }) => isAllowed(address));
    if (first === undefined) throw new ForbiddenAddressError(hostname);
    return [first, ...others];
  }

  return {
    isAllowed,
    isProtocolAllowed,
    lookupFor: (dealer, timeoutMs) => (hostname, options, done) => {
      addressesOf(lookUp(dealer, hostname, timeoutMs), hostname).then(
        (addresses) =>
          options.all === true ? done(null, addresses) : done(null, addresses[0].address, addresses[0].family),
        (error: NodeJS.ErrnoException) => done(error, '', 0),
      );
    },
    problemOf(text) {
      if (text.length > URL_LENGTH_LIMIT) return `must have at most ${URL_LENGTH_LIMIT} characters`;
      if (!URL.canParse(text)) return 'must be an absolute URL such as https://shop.example/webhooks';
      const url = new URL(text);
      if (url.protocol !== 'https:' && !(isPrivateAllowed && url.protocol === 'http:'))
        return isPrivateAllowed ? 'must begin with https:// or http://' : 'must begin with https://';
      if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
      if (url.hash !== '') return 'must not have a fragment';
      // The URL parser has turned decimal, octal and hexadecimal notations into dotted ones.
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) return 'must not point to a private or reserved address';
      if (!isPrivateAllowed && isLocalName(host)) return 'must not point to a local name';
      return null;
    },
  };
}

export class ForbiddenAddressError extends Error {
  readonly code = 'ERR_FORBIDDEN_ADDRESS';

  constructor(host: string) {
    super(`${host} leads to an address that webhooks may not go to`);
  }
}

export class PlainProtocolError extends Error {
  readonly code = 'ERR_PLAIN_PROTOCOL';

  constructor() {
    super('webhooks go to https:// only');
  }
}

/** Public unicast, and nothing that wraps or translates to something else: mapped, NAT64, 6to4, Teredo and the like. */
function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv6'
    ? isWithin(parsed, GLOBAL_UNICAST)
    : !METADATA.some((range) => isWithin(parsed, range));
}

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/** All that is given out in IPv6; elsewhere lie the forms that embed an IPv4 address, and what is not assigned. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Public by their numbers, but answered by the machine's own cloud. */
const METADATA = ['168.63.129.16/32', '192.0.0.192/32'].map((range) => ipaddr.parseCIDR(range));

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [range, bits]: Range): boolean {
  return address.kind() === range.kind() && address.match(range, bits);
}

function isLocalName(host: string): boolean {
  const name = withoutFinalDots(host.toLowerCase());
  return name === 'localhost' || /\.(localhost|local|internal|lan|home\.arpa)$/.test(name) || !/[.:]/.test(name);
}

/** By hand: the pattern \.+$ would try each dot of a long run of them anew. */
function withoutFinalDots(host: string): string {
  let end = host.length;
  while (host.endsWith('.', end)) end -= 1;
  return host.slice(0, end);
}
