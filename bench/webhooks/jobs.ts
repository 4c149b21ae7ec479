import { PgBoss } from 'pg-boss';
import { rawSql } from '../../src/db/sql.ts';
import { QUEUE, type WebhookJob } from '../baselines/job-queue.ts';
import { record } from '../figures.ts';
import { printTable } from '../table.ts';
import { arrivals, bodies, perSecond, rateOf, type Scene, settle } from './scene.ts';

const JOB_EVENTS = 30_000;

/** The same bodies as jobs of a job library, which knows nothing of endpoints, leases or outcomes. */
export async function compareWithJobs(scene: Scene, ours: number): Promise<void> {
  await settle(scene);
  const boss = new PgBoss({ connectionString: scene.databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(QUEUE);
  const some = await bodies(scene.db, JOB_EVENTS);
  for (let from = 0; from < some.length; from += 1_000) {
    const jobs = some.slice(from, from + 1_000).map((body) => ({ data: { eventId: 'evt_job', body } as WebhookJob }));
    await boss.insert(QUEUE, jobs);
  }
  await boss.stop({ graceful: false });
  await scene.db.query(rawSql('analyze'));
  await scene.stage.runScript('baselines/job-poster.ts', [scene.databaseUrl, `${scene.sink}/hook`, String(JOB_EVENTS)]);
  const jobs = rateOf(await arrivals(scene));
  record({
    name: 'draining, against a job library',
    unit: '/s',
    ours,
    bare: { name: 'pg-boss, without deliveries or attempts', value: jobs },
  });
  printTable(
    'The deliveries table as the queue, against a job library',
    ['pg-boss, without deliveries or attempts /s', 'worker /s', 'ratio'],
    [[perSecond(jobs), perSecond(ours), (ours / jobs).toFixed(2)]],
  );
}
