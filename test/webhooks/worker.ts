import { writeSync } from 'node:fs';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { startDeliveryWorker } from '../../src/webhooks/worker/delivery-worker.ts';
import { listenForWake } from '../../src/webhooks/worker/wake-up.ts';
import { encryption, guard } from '../harness/webhooks/webhook-world.ts';
import type { WorkerOrder } from './worker-process.ts';

/**
 * A worker process that does nothing but send webhooks, with limits of the test's choice. It reports each delivery that it
 * has claimed, and dies by SIGKILL at the point that its argument names.
 *
 * node test/webhooks/worker.ts <order as JSON>
 */
const order = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const real = openDatabase({ address: order.address, poolSize: 5, onIdleError: () => {} });

function say(line: string): void {
  // At once and whole, so that a kill right after it takes nothing back.
  writeSync(1, `${line}\n`);
}

function die(point: WorkerOrder['dieAt']): void {
  if (order.dieAt === point) process.kill(process.pid, 'SIGKILL');
}

const db: Database = {
  ...real,
  async transaction(work, options) {
    let claimed: string[] = [];
    let isRecord = false;
    const result = await real.transaction((tx) => {
      const watched =
        (send: typeof tx.query) =>
        async <Row extends object>(...args: Parameters<typeof tx.query>) => {
          const [{ text }] = args;
          const isRecording = text.includes('last_attempt_at');
          // Other statements may follow it in the same transaction.
          isRecord ||= isRecording;
          if (isRecording) die('before record');
          const rows = await send<Row & { id?: string | null }>(...args);
          if (isRecord) die('before the commit of a record');
          if (text.includes('leased_until = clock.now')) claimed = rows.flatMap(({ id }) => (id == null ? [] : [id]));
          return rows;
        };
      return work({ ...tx, query: watched(tx.query), queryLast: watched(tx.queryLast) });
    }, options);
    for (const id of claimed) say(`claimed ${id}`);
    if (claimed.length > 0) die('after claim');
    if (isRecord) die('after record');
    return result;
  },
};

const worker = startDeliveryWorker({
  db,
  encryption,
  guard,
  now: () => null,
  onFault: (error) => say(`fault ${(error as Error).message.replaceAll('\n', ' ')}`),
  limits: order.limits,
});
const listener = listenForWake(real, worker.wake);
say('ready');

process.once('SIGTERM', async () => {
  await Promise.all([worker.stop(), listener.stop()]);
  await real.close();
  process.exit();
});
