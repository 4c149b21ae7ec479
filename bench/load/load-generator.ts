import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';

/**
 * A load generator on plain sockets: it writes ready request bytes and finds the end of each answer by its
 * Content-Length, so that it costs far less than an HTTP client and the server is what is measured.
 *
 * Runs as a process of its own: node bench/load/load-generator.ts <job file>; prints one line of JSON.
 */
export type LoadJob = {
  port: number;
  connections: number;
  seconds: number;
  /** At nice 10, where somebody else's time is measured on the same machine. */
  isLowPriority?: boolean;
  work: ReadWork | WriteWork;
};

/** GETs, uniformly over the paths. */
export type ReadWork = { kind: 'reads'; headers: Record<string, string>; paths: string[] };

/**
 * Writes of one kind, spread over integrations. A cancellation takes the next of the orders; without any, it ends. Of a
 * reservation each connection makes one and then releases it, because an integration can't have many active ones.
 */
export type WriteWork = { kind: 'writes'; write: WriteName; shops: WriteShop[] };
export type WriteName = 'ping' | 'customer' | 'order' | 'cancellation' | 'reservation';
export type WriteShop = { apiKey: string; listingIds: string[]; orderIds: string[] };

/** The bytes of a connection's next request, made knowing the answer to its last one; null ends it. */
type NextRequest = (connection: number, lastAnswer: Buffer[]) => string | Buffer | null;

export type LoadResult = { requests: number; failures: number; perSecond: number; p50Ms: number; p99Ms: number };

const HEAD_END = Buffer.from('\r\n\r\n');

const [jobFile] = process.argv.slice(2);
if (jobFile?.endsWith('job.json'))
  console.log(JSON.stringify(await runLoad(JSON.parse(readFileSync(jobFile, 'utf8')))));

async function runLoad(job: LoadJob): Promise<LoadResult> {
  if (job.isLowPriority) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const nextRequest: NextRequest = job.work.kind === 'reads' ? reads(job, job.work) : writes(job, job.work);
  const latencies: number[] = [];
  let failures = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + job.seconds * 1000;

  function loop(_: unknown, connection: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: job.port, noDelay: true });
      let sentAt = 0;
      let chunks: Buffer[] = [];
      let received = 0;
      let expected = -1;
      const send = (lastAnswer: Buffer[]) => {
        const request = performance.now() < endsAt ? nextRequest(connection, lastAnswer) : null;
        if (request === null) {
          socket.destroy();
          resolve();
          return;
        }
        sentAt = performance.now();
        socket.write(request);
      };
      socket.on('connect', () => send([]));
      socket.on('error', reject);
      socket.on('data', (data) => {
        const chunk = data as Buffer;
        chunks.push(chunk);
        received += chunk.length;
        if (expected === -1) {
          const head = chunks.length === 1 ? chunk : Buffer.concat(chunks);
          const end = head.indexOf(HEAD_END);
          if (end === -1) return;
          const text = head.toString('latin1', 0, end);
          if (!text.startsWith('HTTP/1.1 20')) failures += 1;
          expected = end + HEAD_END.length + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        }
        if (received < expected) return;
        latencies.push(performance.now() - sentAt);
        const answer = chunks;
        chunks = [];
        received = 0;
        expected = -1;
        send(answer);
      });
    });
  }

  await Promise.all(Array.from({ length: job.connections }, loop));
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) => Math.round((latencies[Math.floor(latencies.length * q)] ?? 0) * 100) / 100;
  return {
    requests: latencies.length,
    failures,
    perSecond: Math.round(latencies.length / seconds),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}

function reads(job: LoadJob, { headers, paths }: ReadWork): () => Buffer {
  const lines = Object.entries({ Host: `127.0.0.1:${job.port}`, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${lines}\r\n`));
  return () => oneOf(requests);
}

type Request = { path: string; body: object };

function writes(job: LoadJob, { write, shops }: WriteWork): NextRequest {
  let sent = 0;
  return (connection, lastAnswer) => {
    sent += 1;
    const shop = shops[connection % shops.length] as WriteShop;
    const id = `${process.pid}-${sent}`;
    const request = (write === 'reservation' ? releaseOf(lastAnswer) : null) ?? requestOf(write, shop, id);
    if (request === null) return null;
    const body = JSON.stringify(request.body);
    return (
      `POST /api${request.path} HTTP/1.1\r\nHost: 127.0.0.1:${job.port}\r\nAuthorization: Bearer ${shop.apiKey}\r\n` +
      `Content-Type: application/json\r\nIdempotency-Key: ${id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    );
  };
}

/** The release of what the last answer was the reservation of; null if it was none, or a release itself. */
function releaseOf(lastAnswer: Buffer[]): Request | null {
  const made = /"id":"(rsv_\w+)","object":"reservation","status":"active"/.exec(Buffer.concat(lastAnswer).toString());
  return made === null ? null : { path: `/v1/reservations/${made[1]}/release`, body: {} };
}

/** A request that succeeds; also what the benchmark sends alone to count its statements. */
export function requestOf(write: WriteName, shop: WriteShop, id: string): Request | null {
  switch (write) {
    case 'ping':
      return { path: '/v1/test/webhook_ping', body: {} };
    case 'customer':
      return {
        path: '/v1/customers',
        body: { external_id: id, email: `${id}@example.ch`, first_name: 'Ana', last_name: 'B' },
      };
    case 'order': {
      const lines = [{ listing_id: oneOf(shop.listingIds), quantity: 1, unit_amount: 1_199_000 }];
      return {
        path: '/v1/orders',
        body: { channel_order_id: id, lines, shipping_amount: 2_500, metadata: { cart: id } },
      };
    }
    case 'cancellation': {
      const orderId = shop.orderIds.pop();
      return orderId === undefined ? null : { path: `/v1/orders/${orderId}/cancel`, body: {} };
    }
    case 'reservation':
      return { path: '/v1/reservations', body: { listing_id: oneOf(shop.listingIds), reference: id } };
  }
}

function oneOf<Item>(items: Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}
