import { VERSIONS } from '../../src/contract/versions.ts';
import type { DatabaseAddress } from '../../src/db/connection-settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { runDeletions } from '../../src/sales/deletion/run-deletions.ts';
import { runErasures } from '../../src/sales/erasure/run-erasures.ts';
import { PUBLIC_URL } from '../harness/world.ts';

export type DeletionOrder = {
  address: DatabaseAddress;
  work: 'deletions' | 'erasures';
  /** It kills itself in this transaction: when all is written, or when it is committed. */
  transaction: number;
  dieAt: 'before the commit' | 'after the commit';
};

/**
 * A process that does nothing but remove what was deleted, or erase persons, until it dies by SIGKILL at the point that its
 * argument names.
 *
 * node test/deletion/deletion-process.ts <order as JSON>
 */
const order = JSON.parse(process.argv[2] ?? '') as DeletionOrder;
const real = openDatabase({ address: order.address, poolSize: 2, onIdleError: () => {} });
let transactions = 0;

function die(point: DeletionOrder['dieAt']): void {
  if (transactions === order.transaction && order.dieAt === point) process.kill(process.pid, 'SIGKILL');
}

const db: Database = {
  ...real,
  async transaction(work, options) {
    transactions += 1;
    const result = await real.transaction(async (tx) => {
      const written = await work(tx);
      die('before the commit');
      return written;
    }, options);
    die('after the commit');
    return result;
  },
};

const context = { db, now: () => null, publicUrl: PUBLIC_URL, versions: VERSIONS, onEvents: () => {} };
if (order.work === 'deletions') await runDeletions(context, undefined, 0);
else await runErasures(context, undefined, { pauseMs: 0, settleMs: 0 });
await real.close();
