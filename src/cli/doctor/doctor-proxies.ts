import type { Config } from '../../config.ts';
import { type Check, ok, warning } from './check.ts';

const NAME = 'proxies';

/** The service speaks no TLS itself, so with an https address there is a proxy. */
export function checkProxies({ publicUrl, trustedProxies, roles, connectionsPerAddress }: Config): Check {
  if (trustedProxies.length > 0) return ok(NAME, `trusted: ${trustedProxies.join(', ')}`);
  const answersClients = roles.some((role) => role !== 'worker');
  if (!answersClients || !publicUrl.startsWith('https:')) return ok(NAME, 'none is trusted');
  return warning(
    NAME,
    `PUBLIC_URL is https, so clients come through a proxy, and none is trusted: it counts as one client with ${connectionsPerAddress} connections`,
    'set TRUSTED_PROXIES to its addresses',
  );
}
