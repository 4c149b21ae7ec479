import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Database } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { createOrganization } from '../../../src/dealers/organizations.ts';
import { storeImportFile } from '../../../src/inventory/import/import-files.ts';
import { startImport } from '../../../src/inventory/import/start-import.ts';
import { findJob, type JobRow } from '../../../src/inventory/jobs/stock-job-queue.ts';
import { TESTER } from '../../harness/actor.ts';
import { databaseIn, freePort, migratedFolder, startService, sweep, until } from '../service-process.ts';

const LINES = 3_000;
const KILLS = 2;
const HEADER = 'stock_number,title,brand,model,condition,price';

describe('an import under a service that is killed', () => {
  after(sweep);

  it('goes on where it was: every line is imported and counted exactly once', async (t) => {
    const dataDir = await migratedFolder();
    const env = { DATA_DIR: dataDir, DEMO: 'off', PORT: String(await freePort()) };
    let service = await startService({ env });
    await service.isHealthy();
    const { organizationId, jobId } = await withDatabase(dataDir, prepare);
    const job = () => withDatabase(dataDir, (db) => findJob(db, organizationId, jobId));

    for (let kill = 1; kill <= KILLS; kill++) {
      const before = (await job()).done;
      await reaches(job, ({ done }) => done > before + LINES / 10);
      service.signal('SIGKILL');
      await service.exit();
      service = await startService({ env });
      await service.isHealthy();
    }
    assert.ok((await job()).done < LINES, 'the kills came too late, so this has proved nothing');
    await reaches(job, ({ status }) => status === 'done');
    const ended = await job();
    assert.partialDeepStrictEqual(ended, { done: LINES, counts: { created: LINES, wrong: 0 } });
    const [row] = await withDatabase(dataDir, (db) =>
      db.query(sql`
        select (select count(*)::integer from items where organization_id = ${organizationId}) as items,
          (select count(*)::integer from audit_log_objects where organization_id = ${organizationId}) as audited`),
    );
    assert.deepEqual(row, { items: LINES, audited: LINES });
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
    t.diagnostic(`${KILLS} kills`);
  });
});

async function prepare(db: Database): Promise<{ organizationId: string; jobId: string }> {
  const { id: organizationId } = await createOrganization(db, TESTER, { name: 'Dealer', hasPlan: true });
  const lines = Array.from({ length: LINES }, (_, index) => `W-${index},Watch ${index},Omega,Seamaster,Good,${index}`);
  const bytes = Buffer.from(`${HEADER}\n${lines.join('\n')}\n`);
  const fileId = await storeImportFile(db, organizationId, { name: 'stock.csv', kind: 'listing', bytes });
  const request = { organizationId, fileId, mapping: HEADER.split(','), isCheck: false, seesCost: true };
  return { organizationId, jobId: await startImport(db, TESTER, request) };
}

async function withDatabase<Result>(dataDir: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = databaseIn(dataDir);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** A job whose worker was killed rests until its lease ends, so one wait of the harness may be too short. */
async function reaches(job: () => Promise<JobRow>, isReached: (job: JobRow) => boolean): Promise<void> {
  for (let waits = 1; ; waits++) {
    try {
      return await until(
        async () => isReached(await job()),
        () => 'the import stands still',
      );
    } catch (error) {
      if (waits === 3) throw error;
    }
  }
}
