import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAccepted, type SignedRequest, signersAmong } from '../webhooks/verify-signature.ts';

/** A webhook as it came over the wire. */
export type Received = SignedRequest & {
  headers: IncomingHttpHeaders;
  body: string;
  eventId: string;
  type: string;
  deliveryId: string;
  attempt: number;
  path: string;
  /** The sender's port: one for each connection. */
  port: number;
  at: number;
};

/** A webhook receiver on a real port that records everything it gets. */
export type Receiver = {
  url: string;
  received: Received[];
  /** How the next requests are answered; 200 at first. */
  answer: (response: ServerResponse, request: Received) => void;
  /** The same with a status and nothing else. */
  answerWith(status: number): void;
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
      const entry = receivedOf(request, Buffer.concat(chunks));
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
    answerWith(status) {
      receiver.answer = (response) => response.writeHead(status).end();
    },
    async until(count, timeoutMs = 15_000) {
      const deadline = Date.now() + timeoutMs;
      while (received.length < count) {
        if (Date.now() > deadline) throw new Error(`only ${received.length} of ${count} webhooks came`);
        await sleep(5);
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

/** How many of the webhooks a receiver refuses that knows this secret, at a time that each was signed for. */
export async function countRefused(received: Received[], secret: string, now?: Date): Promise<number> {
  const isFine = await Promise.all(
    received.map(async (webhook) => {
      const { strangers } = await signersAmong(webhook, [secret]);
      return strangers === 0 && (await isAccepted(webhook, secret, (now?.getTime() ?? webhook.at) / 1000));
    }),
  );
  return isFine.filter((fine) => !fine).length;
}

function receivedOf({ headers, url, socket }: IncomingMessage, rawBody: Buffer): Received {
  return {
    headers,
    path: url ?? '',
    port: socket.remotePort ?? 0,
    rawBody,
    body: rawBody.toString(),
    signature: String(headers['x-svc-signature']),
    eventId: String(headers['x-svc-event-id']),
    type: String(headers['x-svc-event-type']),
    deliveryId: String(headers['x-svc-delivery-id']),
    attempt: Number(headers['x-svc-delivery-attempt']),
    at: Date.now(),
  };
}
