import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Received = { headers: IncomingHttpHeaders; body: string; at: number };

/** A webhook receiver on a real port that records everything it gets. */
export type Receiver = {
  url: string;
  received: Received[];
  /** How the next requests are answered; 200 at first. */
  answer: (response: ServerResponse, request: Received) => void;
  /** Waits until so many have come, or fails. */
  until(count: number, timeoutMs?: number): Promise<Received[]>;
  stop(): Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = { headers: request.headers, body: Buffer.concat(chunks).toString(), at: Date.now() };
      received.push(entry);
      receiver.answer(response, entry);
    });
    request.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (response) => response.writeHead(200).end('ok'),
    async until(count, timeoutMs = 15_000) {
      const deadline = Date.now() + timeoutMs;
      while (received.length < count) {
        if (Date.now() > deadline) throw new Error(`only ${received.length} of ${count} webhooks came`);
        await sleep(10);
      }
      return received;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
