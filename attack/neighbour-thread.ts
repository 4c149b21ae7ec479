import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Samples } from './neighbour.ts';

/** Reads and writes at an even pace, two requests at a time, and remembers how long each took. */
const { origin, key, counter } = workerData as { origin: string; key: string; counter: Int32Array };
const url = new URL(origin);
const AT_ONCE = 2;
const PAUSE_MS = 10;
const REQUEST_LIMIT_MS = 30_000;

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
let samples: Samples = { timesMs: [], failures: 0 };
let writes = 0;

function send(method: string, path: string, body?: string): Promise<boolean> {
  return new Promise((resolve) => {
    writes += 1;
    const request = httpRequest({
      agent,
      host: url.hostname,
      port: url.port,
      method,
      path: `/api${path}`,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'idempotency-key': `neighbour-${process.pid}-${writes}` }),
      },
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    request.once('response', (response) => {
      response.resume();
      response.once('close', () => resolve((response.statusCode ?? 500) < 300));
    });
    request.once('error', () => resolve(false));
    request.end(body);
  });
}

const calls = [
  () => send('GET', '/v1/listings?limit=50'),
  () => send('GET', '/v1/me'),
  () => send('GET', `/v1/events?limit=10&x=${writes}`),
  () => send('POST', '/v1/customers', JSON.stringify({ external_id: `neighbour-${writes % 100}` })),
];

async function live(first: number): Promise<never> {
  for (let round = first; ; round++) {
    const sentAt = performance.now();
    const isServed = await (calls[round % calls.length] as () => Promise<boolean>)();
    samples.timesMs.push(performance.now() - sentAt);
    if (!isServed) samples.failures += 1;
    Atomics.add(counter, 0, 1);
    await sleep(PAUSE_MS);
  }
}

parentPort?.on('message', (message) => {
  if (message === 'end') parentPort?.postMessage(samples);
  samples = { timesMs: [], failures: 0 };
});

await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => live(index)));
