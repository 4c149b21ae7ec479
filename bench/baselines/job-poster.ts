import { PgBoss } from 'pg-boss';
import { QUEUE, type WebhookJob } from './job-queue.ts';
import { createSignedPoster } from './signed-post.ts';

/**
 * The same work as jobs of a job library: fetched and completed in batches as large as it advises, signed and posted as
 * ours are, and without a record of the attempt.
 *
 * Runs as a process of its own: node bench/baselines/job-poster.ts <database URL> <url> <how many>.
 */
const BATCH = 100;
const WORKERS = 4;

const [database = '', url = '', count = '0'] = process.argv.slice(2);
const poster = createSignedPoster(url);
const boss = new PgBoss({ connectionString: database, supervise: false, schedule: false });
await boss.start();
let left = Number(count);
const startedAt = performance.now();

async function work(): Promise<void> {
  while (left > 0) {
    const jobs = await boss.fetch<WebhookJob>(QUEUE, { batchSize: BATCH });
    if (jobs.length === 0) return;
    await Promise.all(jobs.map(({ data }) => poster.post(data)));
    await boss.complete(
      QUEUE,
      jobs.map((job) => job.id),
    );
    left -= jobs.length;
  }
}

await Promise.all(Array.from({ length: WORKERS }, work));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000 }));
await boss.stop({ graceful: false });
await poster.close();
