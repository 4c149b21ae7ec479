import { openDatabase } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { startOwnServer } from '../test/harness/servers/own-server.ts';
import { restartUnderLoad } from '../test/service/rolling-restart.ts';
import { startService, sweep, temporaryFolder } from '../test/service/service-process.ts';
import { record, valueAtMost } from './figures.ts';
import { printTable } from './table.ts';

const REQUESTS = 10_000;
const CONCURRENCY = 16;
const API_KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';

/** Two nodes behind a proxy that obeys readiness, restarted in turn until enough requests are sent; none may fail. */
export async function benchRestarts(args: string[]): Promise<void> {
  const drains = args.length > 0 ? args : ['2'];
  const server = await startOwnServer();
  const { socketDir, user, database } = server.address as Record<string, string>;
  const env = {
    DATA_DIR: await temporaryFolder(),
    DATABASE_URL: `postgresql:///${database}?host=${encodeURIComponent(socketDir ?? '')}&user=${user}`,
    SECRET_KEYS: 'a-secret-key-of-at-least-thirty-two-characters',
    LOG_LEVEL: 'error',
  };
  try {
    const seeding = await startService({ env: { ...env, DEMO: 'on', DEMO_API_KEY: API_KEY } });
    await seeding.isHealthy();
    seeding.signal('SIGTERM');
    await seeding.exit();
    const db = openDatabase({ address: server.address, poolSize: 1, onIdleError: () => {} });
    await db.query(sql`update integrations set rate_limit_override = 1000000`);
    await db.close();
    const rows: string[][] = [];
    for (const DRAIN_SECONDS of drains) {
      const { sent, restarts, failures } = await restartUnderLoad({
        env: { ...env, DRAIN_SECONDS },
        apiKey: API_KEY,
        requests: REQUESTS,
        concurrency: CONCURRENCY,
      });
      rows.push([DRAIN_SECONDS, String(sent), String(restarts), String(failures.length)]);
      for (const failure of failures.slice(0, 5)) console.error(failure);
      record({
        name: `requests during rolling restarts, DRAIN_SECONDS=${DRAIN_SECONDS}`,
        unit: 'failed',
        ours: failures.length,
        wanted: valueAtMost(0),
        note: `${sent.toLocaleString('en-US')} requests over ${restarts} restarts.`,
      });
    }
    printTable('Rolling restarts of two nodes', ['DRAIN_SECONDS', 'requests', 'restarts', 'failed'], rows);
    if (rows.some(([, , , failed]) => failed !== '0')) throw new Error('requests failed during the restarts');
  } finally {
    await sweep();
    await server.remove();
  }
}
