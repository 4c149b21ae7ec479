import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DashboardAccount, NeighbourAccount, Samples } from './neighbour.ts';

/** Reads and writes at an even pace, two requests at a time, and remembers how long each took. */
const { origin, account, counter } = workerData as { origin: string; account: NeighbourAccount; counter: Int32Array };
const { key, staff } = account;
const url = new URL(origin);
const AT_ONCE = 2;
const PAUSE_MS = 10;
const REQUEST_LIMIT_MS = 30_000;

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
let samples: Samples = { timesMs: [], failures: 0 };
let writes = 0;

type Sent = { method: string; path: string; headers: Record<string, string>; body?: unknown };

function send({ method, path, headers, body }: Sent): Promise<boolean> {
  return new Promise((resolve) => {
    const request = httpRequest({
      agent,
      host: url.hostname,
      port: url.port,
      method,
      path: `/api${path}`,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    request.once('response', (response) => {
      response.resume();
      response.once('close', () => resolve((response.statusCode ?? 500) < 300));
    });
    request.once('error', () => resolve(false));
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What the neighbour's website asks. */
const authorization = `Bearer ${key}`;
const get = (path: string) => send({ method: 'GET', path, headers: { authorization } });
const website = [
  () => get('/v1/listings?limit=50'),
  () => get('/v1/me'),
  () => get(`/v1/events?limit=10&x=${writes}`),
  () => {
    writes += 1;
    const headers = { authorization, 'idempotency-key': `neighbour-${process.pid}-${writes}` };
    const body = { external_id: `neighbour-${writes % 100}` };
    return send({ method: 'POST', path: '/v1/customers', headers, body });
  },
];

/** What somebody in the neighbour's shop does meanwhile. More of it would exceed the rate limit of a person. */
const dashboard = staff === null ? [] : [() => read(staff, '/stock?kind=listing'), () => change(staff)];
const calls = [...website, ...website, ...dashboard];

function read({ cookie, origin }: DashboardAccount, path: string): Promise<boolean> {
  return send({ method: 'GET', path: `/dashboard${path}`, headers: { cookie, origin } });
}

function change({ cookie, origin }: DashboardAccount): Promise<boolean> {
  const body = { show_test_data: false };
  return send({ method: 'PATCH', path: '/dashboard/account', headers: { cookie, origin }, body });
}

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
