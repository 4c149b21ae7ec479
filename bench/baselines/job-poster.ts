import { PgBoss } from 'pg-boss';
import { Agent, request } from 'undici';
import { signature } from '../../src/webhooks/sending/signature.ts';
import { QUEUE, type WebhookJob } from './job-queue.ts';

/**
 * The same work as jobs of a job library: fetched and completed in batches as large as it advises, signed and posted as
 * ours are, and without a record of the attempt.
 *
 * Runs as a process of its own: node bench/baselines/job-poster.ts <database URL> <url> <how many>.
 */
const CONNECTIONS = 64;
const BATCH = 100;
const WORKERS = 4;
const SECRET = `whsec_${'x'.repeat(32)}`;

const [database = '', url = '', count = '0'] = process.argv.slice(2);
const agent = new Agent({ connections: CONNECTIONS, allowH2: false });
const boss = new PgBoss({ connectionString: database, supervise: false, schedule: false });
await boss.start();
let left = Number(count);
const startedAt = performance.now();

async function work(): Promise<void> {
  while (left > 0) {
    const jobs = await boss.fetch<WebhookJob>(QUEUE, { batchSize: BATCH });
    if (jobs.length === 0) return;
    await Promise.all(jobs.map(({ data }) => post(data)));
    await boss.complete(
      QUEUE,
      jobs.map((job) => job.id),
    );
    left -= jobs.length;
  }
}

async function post({ eventId, body }: WebhookJob): Promise<void> {
  const response = await request(url, {
    method: 'POST',
    dispatcher: agent,
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-SVC-Signature': signature([SECRET], Math.floor(Date.now() / 1000), body),
      'X-SVC-Event-Id': eventId,
      'X-SVC-Event-Type': 'listing.updated',
      'X-SVC-Delivery-Id': 'dlv_job',
      'X-SVC-Delivery-Attempt': '1',
    },
  });
  await response.body.dump();
}

await Promise.all(Array.from({ length: WORKERS }, work));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000 }));
await boss.stop({ graceful: false });
await agent.close();
