import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase } from '../src/db/database.ts';
import { type EmbeddedDatabase, startEmbedded } from '../src/db/embedded/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { rawSql } from '../src/db/sql.ts';
import { SERVER_VARIABLE, TEMPLATE_DATABASE } from './harness/database/database.ts';
import { COMPILE_CACHE_DIR } from './harness/run/compile-cache.ts';
import { makeRunFolder, removeRunFolder } from './harness/run/run-folder.ts';
import { startRunWatchdog } from './harness/run/run-watchdog.ts';

/**
 * One real PostgreSQL for the whole run, with a migrated template database that each test clones. Durability is off:
 * the tests that need a server they can kill start one of their own.
 */
let server: EmbeddedDatabase | undefined;
let runFolder: string | undefined;

export async function globalSetup(): Promise<void> {
  // Once for all test files; each process that finds old pages would build them itself.
  const isBuilt = promisify(execFile)(process.execPath, ['dashboard/build.ts']);
  startRunWatchdog();
  runFolder = await makeRunFolder();
  // Each of a hundred processes loads the whole application: with this, only the first run compiles it.
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE_DIR;
  const dataDir = await mkdtemp(join(runFolder, 'crownwheel-test-'));
  server = await startEmbedded({
    dataDir,
    isExclusive: true,
    onProgress: () => {},
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  const address = server.address as { socketDir: string; user: string; database: string };
  const admin = openDatabase({ address, poolSize: 1, onIdleError: () => {} });
  await admin.query(rawSql(`create database ${TEMPLATE_DATABASE}`));
  await admin.close();
  const template = openDatabase({
    address: { ...address, database: TEMPLATE_DATABASE },
    poolSize: 1,
    onIdleError: () => {},
  });
  await migrate(template);
  await template.close();
  await isBuilt;
  process.env[SERVER_VARIABLE] = JSON.stringify(address);
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (runFolder !== undefined) await removeRunFolder(runFolder);
}
