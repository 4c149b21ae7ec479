import { DashboardError } from './dashboard-error.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The protection against CSRF. Every request that changes something must come from a page of the dashboard itself: from
 * exactly PUBLIC_URL or, if that is this machine, from any name of it. Browsers send the Origin header with each of
 * them, and no page can forge it.
 */
export function originCheck(publicUrl: string): (method: string, origin: string | undefined) => void {
  const url = new URL(publicUrl);
  const hosts = LOOPBACK.includes(url.hostname) ? LOOPBACK : [url.hostname];
  const port = url.port === '' ? '' : `:${url.port}`;
  const allowed = new Set(hosts.map((host) => `${url.protocol}//${host}${port}`));
  return (method, origin) => {
    if (method === 'GET' || method === 'HEAD' || (origin !== undefined && allowed.has(origin))) return;
    throw new DashboardError(
      'wrong_origin',
      `Open the dashboard at ${url.origin}. If it has another address, set PUBLIC_URL to that.`,
    );
  };
}
