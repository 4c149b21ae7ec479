import ipaddr from 'ipaddr.js';

/**
 * The network of an address. A person with IPv6 has 2^64 addresses, so only the first half of an address identifies
 * them.
 */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}
