import ipaddr from 'ipaddr.js';

/** Whose address it is: somebody with IPv6 has a network of 2^64 addresses, so its first half says who they are. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}
