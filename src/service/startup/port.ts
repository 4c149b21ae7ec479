import { createServer } from 'node:net';
import { StartError } from '../../db/start-error.ts';

/** Where the service listens; both are settings. */
export type ListenAddress = { host: string; port: number };

/**
 * Fails early, before a database is started for nothing. Another process may still take the port between this check and
 * the listen.
 */
export async function assertPortFree(address: ListenAddress): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(new StartError(listenProblem(error, address))));
    probe.listen({ host: address.host, port: address.port }, () => probe.close(() => resolve()));
  });
}

export function listenProblem(error: NodeJS.ErrnoException, { host, port }: ListenAddress): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `port ${port} is taken on ${host}; stop the program that has it, or set PORT to another`;
    case 'EACCES':
      return `no permission to listen on ${host}:${port}; set PORT to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `HOST ${host} is not an address of this machine`;
    default:
      return `cannot listen on ${host}:${port}: ${error.message}`;
  }
}
