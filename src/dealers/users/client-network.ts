import ipaddr from 'ipaddr.js';

/** A network of IPv6: the least that a customer of an internet provider has. */
const IPV6_NETWORK_BYTES = 8;

/** Whose share an address takes: in IPv6 one customer has more addresses than anybody could count. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  // One network stands for all IPv4 addresses that a translator (NAT64) speaks for.
  if (parsed.range() === 'rfc6052') return address;
  return parsed.toByteArray().slice(0, IPV6_NETWORK_BYTES).join('.');
}
