import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The smallest load balancer that obeys readiness: it asks each backend every moment, sends requests to those that are
 * ready round-robin, keeps connections open, and never tries a request again. So what a backend drops, the client sees.
 */
export type ReadyProxy = {
  origin: string;
  /** How many backends are ready by the last look. */
  readyCount(): number;
  close(): Promise<void>;
};

const PROBE_EVERY_MS = 50;
const PROBE_LIMIT_MS = 2_000;

export async function startReadyProxy(backends: readonly string[]): Promise<ReadyProxy> {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set<string>();
  const stopping = new AbortController();
  let sent = 0;

  async function watch(backend: string): Promise<void> {
    while (!stopping.signal.aborted) {
      if (await isReady(backend)) ready.add(backend);
      else ready.delete(backend);
      await sleep(PROBE_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const server = createServer((incoming, outgoing) => {
    const candidates = [...ready];
    const backend = candidates[sent++ % candidates.length];
    if (backend === undefined) return void outgoing.writeHead(502).end('no backend is ready');
    pass(backend, agent, incoming, outgoing);
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const watching = backends.map(watch);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    readyCount: () => ready.size,
    async close() {
      stopping.abort();
      await Promise.all(watching);
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function pass(backend: string, agent: Agent, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(backend);
  const { connection: _, ...headers } = incoming.headers;
  const onward = request({ hostname, port, agent, method: incoming.method, path: incoming.url, headers });
  onward.once('response', (response) => {
    const { connection: _, ...answered } = response.headers;
    outgoing.writeHead(response.statusCode ?? 502, answered);
    response.once('error', () => outgoing.destroy());
    response.pipe(outgoing);
  });
  onward.once('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end(`the backend failed: ${error.message}`);
  });
  incoming.pipe(onward);
}

async function isReady(backend: string): Promise<boolean> {
  try {
    const response = await fetch(`${backend}/api/v1/ready`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(PROBE_LIMIT_MS),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
