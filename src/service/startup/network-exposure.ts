import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** The settings that suggest that others can reach the service; empty on a laptop. */
export function signsOfExposure({ host, publicUrl }: { host: string; publicUrl: string }): string[] {
  const signs = isLoopback(host) ? [] : [`HOST is ${host}`];
  const url = new URL(publicUrl);
  if (url.protocol === 'https:') signs.push('PUBLIC_URL is https');
  else if (!isLoopback(url.hostname.replace(/^\[(.+)\]$/, '$1'))) signs.push(`PUBLIC_URL is ${url.hostname}`);
  return signs;
}

function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost');
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
