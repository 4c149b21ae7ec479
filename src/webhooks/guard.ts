import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Which addresses webhooks may go to. A dealer's URL must not reach into the network the service runs in: the check is
 * made when the URL is saved, on every resolution, and on the address that was really connected to.
 */
export type Guard = {
  /** Why a URL can't be a receiver, or null if it can. */
  problemOf(url: string): string | null;
  /** Resolves names to allowed addresses only. */
  lookup: LookupFunction;
  isAllowed(address: string): boolean;
};

const URL_LENGTH_LIMIT = 2_000;

/** With `isPrivateAllowed`, for development, http and private addresses are taken too. */
export function createGuard(isPrivateAllowed: boolean): Guard {
  const isAllowed = (address: string) => isPrivateAllowed || isPublic(address);

  const lookup: LookupFunction = (hostname, options, done) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return done(new ForbiddenAddressError(hostname), '', 0);
      if (options.all) return done(null, allowed);
      return done(null, first.address, first.family);
    });
  };

  return {
    isAllowed,
    lookup,
    problemOf(text) {
      if (text.length > URL_LENGTH_LIMIT) return `must have at most ${URL_LENGTH_LIMIT} characters`;
      if (!URL.canParse(text)) return 'must be an absolute URL such as https://shop.example/webhooks';
      const url = new URL(text);
      if (url.protocol !== 'https:' && !(isPrivateAllowed && url.protocol === 'http:'))
        return 'must begin with https://';
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

/** Public unicast, and nothing that wraps or translates to something else: mapped, NAT64, 6to4, Teredo and the like. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && !isSpecial(parsed);
}

/** Ranges that the library counts as ordinary and we do not: benchmarking, documentation, metadata of clouds. */
const SPECIAL = [
  '198.18.0.0/15',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fec0::/10',
  '2001:db8::/32',
  '64:ff9b:1::/48',
].map((range) => ipaddr.parseCIDR(range));

function isSpecial(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return SPECIAL.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
}

function isLocalName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || /\.(localhost|local|internal|lan|home\.arpa)$/.test(name) || !/[.:]/.test(name);
}
