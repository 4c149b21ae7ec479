import { runJobs } from '../../src/channel/jobs/run-jobs.ts';
import { VERSIONS } from '../../src/contract/versions.ts';
import type { DatabaseAddress } from '../../src/db/connection-settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { CONSTANT_SIZES } from '../harness/jobs/batch-sizes.ts';
import { PUBLIC_URL } from '../harness/world.ts';

export type JobOrder = {
  address: DatabaseAddress;
  /** It kills itself in this batch: when all is written, or when it is committed. */
  batch: number;
  dieAt: 'before the commit' | 'after the commit';
};

/**
 * A process that does nothing but carry out mass changes, until it dies by SIGKILL at the point that its argument names.
 *
 * node test/channel/job-process.ts <order as JSON>
 */
const order = JSON.parse(process.argv[2] ?? '') as JobOrder;
const real = openDatabase({ address: order.address, poolSize: 2, onIdleError: () => {} });
let batches = 0;

function die(point: JobOrder['dieAt']): void {
  if (batches === order.batch && order.dieAt === point) process.kill(process.pid, 'SIGKILL');
}

const db: Database = {
  ...real,
  async transaction(work, options) {
    batches += 1;
    const result = await real.transaction(async (tx) => {
      const written = await work(tx);
      // What is deferred would go with the commit; it has to be written when the process dies.
      await tx.query(sql`select 1`);
      die('before the commit');
      return written;
    }, options);
    die('after the commit');
    return result;
  },
};

const context = { db, now: () => null, publicUrl: PUBLIC_URL, versions: VERSIONS, onEvents: () => {} };
await runJobs(context, undefined, 0, CONSTANT_SIZES);
await real.close();
