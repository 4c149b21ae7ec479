import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { rawSql, sql } from '../../../src/db/sql.ts';
import { SERVER_VARIABLE } from '../../harness/database/database.ts';
import { databaseIn, startService, statusOf, sweep, temporaryFolder } from '../service-process.ts';

const EXPECTED = {
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  search_path: 'public',
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  gin_fuzzy_search_limit: '0',
  statement_timeout: '15s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '30s',
  idle_session_timeout: '0',
};
/** The opposite of each, which is what a careless or hostile environment may ask for. */
const HOSTILE = {
  synchronous_commit: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  search_path: 'pg_catalog',
  client_encoding: 'LATIN1',
  TimeZone: 'Asia/Tokyo',
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  array_nulls: 'off',
  transform_null_equals: 'on',
  gin_fuzzy_search_limit: '1',
  statement_timeout: '1',
  lock_timeout: '1',
  idle_in_transaction_session_timeout: '1',
  idle_session_timeout: '86400000',
};
const HOSTILE_OPTIONS = Object.entries(HOSTILE)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
const HOSTILE_ENVIRONMENT = {
  PGOPTIONS: HOSTILE_OPTIONS,
  PGTZ: 'Asia/Tokyo',
  PGDATESTYLE: 'German',
  PGCLIENT_ENCODING: 'latin1',
  PGAPPNAME: 'else',
  PGREPLICATION: 'database',
  PGPORT: '1',
  PGHOST: '127.0.0.2',
  PGUSER: 'nobody',
  PGDATABASE: 'nothing',
  PGSSLMODE: 'require',
  PGSSLNEGOTIATION: 'direct',
  PGCONNECT_TIMEOUT: '1',
};

describe('the settings of our database connections', () => {
  const name = `test_session_${randomBytes(4).toString('hex')}`;
  const role = `${name}_role`;
  const server = JSON.parse(process.env[SERVER_VARIABLE] ?? '{}') as { socketDir: string; user: string };
  let admin: Database;

  before(async () => {
    admin = openDatabase({ address: { ...server, database: 'postgres' }, poolSize: 1, onIdleError: () => {} });
    await admin.query(rawSql(`create database ${name}`));
    await admin.query(rawSql(`create role ${role} login`));
    for (const [setting, value] of Object.entries(HOSTILE)) {
      await admin.query(rawSql(`alter role ${role} set ${setting} = '${value}'`));
      await admin.query(rawSql(`alter database ${name} set ${setting} = '${value}'`));
    }
  });
  after(async () => {
    await sweep();
    await admin.query(rawSql(`drop database ${name} with (force)`));
    await admin.query(rawSql(`drop role ${role}`));
    await admin.close();
  });

  async function session(address: object, env: Record<string, string>): Promise<Record<'pooled' | 'single', object>> {
    const names = Object.keys(EXPECTED);
    const command: [string, ...string[]] = [
      process.execPath,
      'test/service/databases/show-session.ts',
      JSON.stringify(address),
      ...names,
    ];
    const shown = await startService({ env, command });
    assert.equal(await shown.exit(), 0, shown.err());
    return JSON.parse(shown.out());
  }
  const urlOf = (parameters: Record<string, string>) =>
    `postgresql:///${name}?${new URLSearchParams({ host: server.socketDir, user: role, ...parameters })}`;

  it('are ours on a socket, whatever the variables of PostgreSQL in the environment say', async () => {
    const address = { ...server, database: name };
    assert.deepEqual(await session(address, HOSTILE_ENVIRONMENT), { pooled: EXPECTED, single: EXPECTED });
  });

  it('are ours with a URL, whatever its options, its parameters, the role and the database say', async () => {
    const { PGOPTIONS } = HOSTILE_ENVIRONMENT;
    const url = urlOf({ ...HOSTILE, options: HOSTILE_OPTIONS, query_timeout: '1', replication: 'database' });
    assert.deepEqual(await session({ url }, { PGOPTIONS }), { pooled: EXPECTED, single: EXPECTED });
    assert.deepEqual(await session({ url: urlOf({}) }, { PGOPTIONS }), { pooled: EXPECTED, single: EXPECTED });
  });

  it('let the service start, migrate and serve in an environment that is against it', async () => {
    const dataDir = await temporaryFolder();
    const key = 'svc_0123456789abcdefghijABCDEFGHIJ01';
    const env = { ...HOSTILE_ENVIRONMENT, DATA_DIR: dataDir, DEMO_API_KEY: key };
    const service = await startService({ env });
    await service.says('Stop:');
    assert.equal(await statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${key}` }), 200);
    const db = databaseIn(dataDir);
    const rows = await db.query(sql`
      select distinct application_name from pg_stat_activity where datname = 'crownwheel' and backend_type = 'client backend'`);
    assert.deepEqual(rows, [{ application_name: 'crownwheel' }]);
    await db.close();
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
  });
});
