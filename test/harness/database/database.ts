import { randomBytes } from 'node:crypto';
import type { DatabaseAddress } from '../../../src/db/connection-settings.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../../../src/db/database.ts';
import { rawSql } from '../../../src/db/sql.ts';

export const SERVER_VARIABLE = 'CROWNWHEEL_TEST_SERVER';
export const TEMPLATE_DATABASE = 'crownwheel_template';

/** A machine that does something else as well may be slow; what is to be fast says so itself. */
const PATIENT = { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000 };

export type TestDatabase = { db: Database; address: DatabaseAddress; drop(): Promise<void> };

/** A database of its own for one test file, cloned from the migrated template. */
export async function cloneDatabase(options: Partial<DatabaseOptions> = {}): Promise<TestDatabase> {
  const server = serverAddress();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdmin(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  const address = { ...server, database: name };
  const db = openDatabase({ address, poolSize: 10, onIdleError: () => {}, ...PATIENT, ...options });
  return {
    db,
    address,
    async drop() {
      await db.close();
      await asAdmin(`drop database ${name} with (force)`);
    },
  };
}

function serverAddress(): { socketDir: string; user: string; database: string } {
  const text = process.env[SERVER_VARIABLE];
  if (text === undefined) throw new Error('run the tests with "npm test": its global setup starts PostgreSQL');
  return JSON.parse(text);
}

async function asAdmin(statement: string): Promise<void> {
  const admin = openDatabase({
    address: { ...serverAddress(), database: 'postgres' },
    poolSize: 1,
    onIdleError: () => {},
    ...PATIENT,
  });
  try {
    await admin.query(rawSql(statement));
  } finally {
    await admin.close();
  }
}
