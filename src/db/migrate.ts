import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import type { Database } from './database.ts';
import { StartError } from './start-error.ts';

const MIGRATIONS_DIR = new URL('../../migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** Any number; it only has to be the same in every node, so that one migrates and the others wait. */
const MIGRATION_LOCK = 7_262_001;
/** A migration may rewrite a large table; it is not bound to the limits of a request. */
const MIGRATION_TIMEOUT_MS = 60 * 60 * 1000;

export type MigrationFile = { version: number; name: string; text: string; checksum: string };
export type MigrationState = { applied: string[]; pending: string[] };

/** Brings the schema up to date, each file in one transaction. Safe to run from many nodes at once. */
export async function migrate(db: Database, onApply: (name: string) => void = () => {}): Promise<string[]> {
  const client = await db.connect();
  try {
    await client.query(`set statement_timeout = ${MIGRATION_TIMEOUT_MS}`);
    await client.query({
      text: 'select pg_advisory_lock($1)',
      values: [MIGRATION_LOCK],
      query_timeout: MIGRATION_TIMEOUT_MS,
    } as pg.QueryConfig);
    await client.query(`create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz(3) not null default now()
    )`);
    const files = await migrationFiles();
    const done = await appliedChecksums(client);
    assertSameHistory(files, done);
    const pending = files.filter((file) => !done.has(file.version));
    for (const file of pending) {
      onApply(file.name);
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
    const table = await client.query<{ exists: boolean }>(
      `select to_regclass('schema_migrations') is not null as exists`,
    );
    const files = await migrationFiles();
    const done = table.rows[0]?.exists ? await appliedChecksums(client) : new Map<number, string>();
    assertSameHistory(files, done);
    return {
      applied: files.filter((file) => done.has(file.version)).map((file) => file.name),
      pending: files.filter((file) => !done.has(file.version)).map((file) => file.name),
    };
  } finally {
    await client.end();
  }
}

async function migrationFiles(): Promise<MigrationFile[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name) => {
      const match = FILE_NAME.exec(name);
      if (match === null) throw new StartError(`migrations/${name} is not named NNNN_what_it_does.sql`);
      const text = await readFile(new URL(name, MIGRATIONS_DIR), 'utf8');
      return { version: Number(match[1]), name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
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

/** A changed or unknown migration means that this code and this database do not belong together. */
function assertSameHistory(files: MigrationFile[], done: Map<number, string>): void {
  const byVersion = new Map(files.map((file) => [file.version, file]));
  for (const [version, checksum] of done) {
    const file = byVersion.get(version);
    if (file === undefined) {
      throw new StartError(
        `the database has migration ${version}, which this release does not know: it was migrated by a newer one`,
      );
    }
    if (file.checksum !== checksum) throw new StartError(`migration ${file.name} was changed after it was applied`);
  }
}
