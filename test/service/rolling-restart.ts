import { Agent, request } from 'node:http';
import { startReadyProxy } from '../harness/servers/ready-proxy.ts';
import { freePort, type Service, startService, until } from './service-process.ts';

export type RestartRun = {
  /** The settings of each node: a database that they share, an API key, a drain. */
  env: Record<string, string>;
  apiKey: string;
  /** How many requests to send at least; restarts go on until they are sent. */
  requests: number;
  /** How many requests are under way at a time. */
  concurrency: number;
};

export type RestartResult = { sent: number; restarts: number; failures: string[] };

/**
 * Two nodes behind a proxy that obeys readiness, restarted in turn under load: reads and writes, each of which must be
 * answered by the service itself.
 */
export async function restartUnderLoad({ env, apiKey, requests, concurrency }: RestartRun): Promise<RestartResult> {
  const ports = [await freePort(), await freePort()];
  const start = (port: number) => startService({ env: { ...env, PORT: String(port) } });
  const nodes: Service[] = [];
  for (const port of ports) nodes.push(await start(port));
  const proxy = await startReadyProxy(nodes.map((node) => node.origin));
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const result: RestartResult = { sent: 0, restarts: 0, failures: [] };
  let isOver = false;

  async function client(number: number): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const isWrite = count % 10 === 0;
      const outcome = await send(agent, proxy.origin, apiKey, isWrite ? `restart-${number}-${count}` : null);
      result.sent += 1;
      if (outcome !== (isWrite ? '201' : '200')) result.failures.push(outcome);
    }
  }

  const bothReady = () =>
    until(
      () => proxy.readyCount() === nodes.length,
      () => `not all nodes are ready: ${nodes.map((node) => node.out() + node.err()).join('\n')}`,
    );
  try {
    await bothReady();
    const clients = Array.from({ length: concurrency }, (_, number) => client(number));
    while (result.sent < requests || result.restarts < nodes.length) {
      const index = result.restarts % nodes.length;
      nodes[index]?.signal('SIGTERM');
      await nodes[index]?.exit();
      nodes[index] = await start(ports[index] ?? 0);
      await bothReady();
      result.restarts += 1;
    }
    isOver = true;
    await Promise.all(clients);
    for (const node of nodes) node.signal('SIGTERM');
    for (const node of nodes) await node.exit();
    return result;
  } finally {
    isOver = true;
    agent.destroy();
    await proxy.close();
  }
}

/** The status of the answer, with its beginning if it is not the one wanted, or what went wrong with the connection. */
async function send(agent: Agent, origin: string, apiKey: string, orderId: string | null): Promise<string> {
  return await new Promise((resolve) => {
    const path = orderId === null ? '/api/v1/listings?limit=5' : '/api/v1/orders';
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
    if (orderId !== null) headers['idempotency-key'] = orderId;
    if (orderId !== null) headers['content-type'] = 'application/json';
    const outgoing = request(`${origin}${path}`, { agent, method: orderId === null ? 'GET' : 'POST', headers });
    outgoing.once('error', (error) => resolve(`no answer: ${error.message}`));
    outgoing.once('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      response.once('error', (error) => resolve(`half an answer: ${error.message}`));
      response.once('end', () => {
        const isGood = response.statusCode === 200 || response.statusCode === 201;
        resolve(isGood ? String(response.statusCode) : `${response.statusCode} ${text.slice(0, 200)}`);
      });
    });
    outgoing.end(
      orderId === null ? undefined : JSON.stringify({ channel_order_id: orderId, lines: [{ title: 'A strap' }] }),
    );
  });
}
