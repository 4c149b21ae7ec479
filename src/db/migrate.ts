import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { MIGRATION_LOCK } from './advisory-locks.ts';
import type { Database } from './database.ts';
import { StartError } from './start-error.ts';

const MIGRATIONS_DIR = new URL('../../migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** A migration may rewrite a large table; it is not bound to the limits of a request. */
const MIGRATION_TIMEOUT_MS = 60 * 60 * 1000;

export type MigrationFile = { version: number; name: string; text: string; checksum: string };

/**
 * Migration files by their state in the database. If there are unknown or changed ones, code and database do not match.
 */
export type MigrationState = { applied: string[]; pending: string[]; unknown: number[]; changed: string[] };

/** Brings the schema up to date, each file in one transaction. Safe to run from many nodes at once. */
export async function migrate(db: Database, onProgress: (message: string) => void = () => {}): Promise<string[]> {
  const client = await db.connect();
  try {
    await client.query(`set statement_timeout = ${MIGRATION_TIMEOUT_MS}; set lock_timeout = 0`);
    // Known from PostgreSQL 17 on only, so that no connection can send it when it is opened.
    await client.query(`select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`);
    await waitForMigrationLock(client, onProgress);
    await makeHistoryTable(client);
    const files = await migrationFiles();
    const done = await appliedChecksums(client);
    assertSameHistory(compare(files, done));
    const pending = files.filter((file) => !done.has(file.version));
    // A new database gets all of them, which is one thing to whoever waits for it.
    if (done.size === 0) onProgress('Making the tables …');
    for (const file of pending) {
      if (done.size > 0) onProgress(`Migrating the database: ${file.name} …`);
      await apply(client, file);
    }
    return pending.map((file) => file.name);
  } finally {
    await client.end();
  }
}

/** What has been applied and what has not, without changing anything. */
export async function migrationState(db: Database): Promise<MigrationState> {
  const client = await db.connect();
  try {
    const done = (await hasHistoryTable(client)) ? await appliedChecksums(client) : new Map<number, string>();
    return compare(await migrationFiles(), done);
  } finally {
    await client.end();
  }
}

/** Throws unless every migration in the database is one of this release's, unaltered. */
export function assertSameHistory(state: MigrationState): void {
  if (state.unknown.length > 0) {
    throw new StartError(
      `the database has migration ${state.unknown.join(', ')}, which this release does not know: it was migrated by a newer one`,
    );
  }
  if (state.changed.length > 0) {
    throw new StartError(`migration ${state.changed.join(', ')} was changed after it was applied`);
  }
}

/** One node migrates and the others wait for it. */
async function waitForMigrationLock(client: pg.Client, onProgress: (message: string) => void): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    MIGRATION_LOCK,
  ]);
  if (rows[0]?.locked) return;
  onProgress('Waiting for another node that is migrating the database …');
  await client.query({
    text: 'select pg_advisory_lock($1)',
    values: [MIGRATION_LOCK],
    query_timeout: MIGRATION_TIMEOUT_MS,
  } as pg.QueryConfig);
}

async function hasHistoryTable(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('schema_migrations') is not null as exists`,
  );
  return rows[0]?.exists ?? false;
}

/** Looked for first, because even "create table if not exists" needs a privilege that a node may rightly lack. */
async function makeHistoryTable(client: pg.Client): Promise<void> {
  if (await hasHistoryTable(client)) return;
  await assertSchema(client);
  try {
    await client.query(`create table schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz(3) not null default now()
    )`);
  } catch (error) {
    throw new StartError(
      `the database user cannot make tables: ${(error as Error).message}; it has to own the database, or to be granted CREATE on its schema`,
    );
  }
}

/** An empty schema beside a full one would look like a service that has lost everything. */
async function assertSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ wanted: string; current: string | null; used: string | null }>(`
    select current_setting('search_path') as wanted, current_schema() as current, (
      select c.relnamespace::regnamespace::text from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'checksum'
      where c.relname = 'schema_migrations' and c.relkind = 'r' order by c.oid limit 1) as used`);
  const { wanted, current, used } = rows[0] ?? { wanted: '', current: null, used: null };
  if (used !== null) {
    throw new StartError(
      `the tables of this database are in the schema ${used}, not in ${wanted}; set DATABASE_SCHEMA=${used}`,
    );
  }
  if (current === null) {
    throw new StartError(`the database has no schema ${wanted}; create it, or change DATABASE_SCHEMA`);
  }
}

async function migrationFiles(): Promise<MigrationFile[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort();
  const files = await Promise.all(
    names.map(async (name) => {
      const match = FILE_NAME.exec(name);
      if (match === null) throw new StartError(`migrations/${name} is not named NNNN_what_it_does.sql`);
      const text = await readFile(new URL(name, MIGRATIONS_DIR), 'utf8');
      return { version: Number(match[1]), name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
  const twin = files.find((file, index) => file.version === files[index - 1]?.version);
  if (twin !== undefined) throw new StartError(`two migrations have the number of ${twin.name}`);
  return files;
}

async function appliedChecksums(client: pg.Client): Promise<Map<number, string>> {
  const { rows } = await client.query<{ version: number; checksum: string }>(
    'select version, checksum from schema_migrations order by version',
  );
  return new Map(rows.map((row) => [row.version, row.checksum]));
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await client.query('begin');
    await client.query({ text: file.text, query_timeout: MIGRATION_TIMEOUT_MS } as pg.QueryConfig);
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      file.version,
      file.name,
      file.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    throw new StartError(`migration ${file.name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function compare(files: MigrationFile[], done: Map<number, string>): MigrationState {
  const known = new Set(files.map((file) => file.version));
  const wasApplied = (file: MigrationFile) => done.has(file.version);
  return {
    applied: files.filter(wasApplied).map((file) => file.name),
    pending: files.filter((file) => !wasApplied(file)).map((file) => file.name),
    unknown: [...done.keys()].filter((version) => !known.has(version)),
    changed: files
      .filter((file) => wasApplied(file) && done.get(file.version) !== file.checksum)
      .map((file) => file.name),
  };
}
