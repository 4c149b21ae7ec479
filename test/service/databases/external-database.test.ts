import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDatabase } from '../../../src/db/database.ts';
import { rawSql, sql } from '../../../src/db/sql.ts';
import { SERVER_VARIABLE, TEMPLATE_DATABASE } from '../../harness/database/database.ts';
import { freePort, startAndFail, startService, statusOf, sweep, temporaryFolder } from '../service-process.ts';

const SECRET_KEYS = 'a-secret-key-of-at-least-thirty-two-characters';
const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ01';

describe('an external PostgreSQL', () => {
  const name = `test_external_${randomBytes(4).toString('hex')}`;
  const visitor = `visitor_${randomBytes(4).toString('hex')}`;
  const server = JSON.parse(process.env[SERVER_VARIABLE] ?? '{}') as { socketDir: string; user: string };
  const urlOf = (database: string, user = server.user) =>
    `postgresql:///${database}?host=${encodeURIComponent(server.socketDir)}&user=${user}`;
  const admin = () =>
    openDatabase({ address: { ...server, database: 'postgres' }, poolSize: 1, onIdleError: () => {} });

  before(async () => {
    const db = admin();
    await db.query(rawSql(`create database ${name}`));
    await db.query(rawSql(`create role ${visitor} login`));
    await db.close();
  });
  after(async () => {
    await sweep();
    const db = admin();
    await db.query(rawSql(`drop database ${name} with (force)`));
    await db.query(rawSql(`drop role ${visitor}`));
    await db.close();
  });

  it('serves two nodes that migrate an empty database and seed it at the same moment, and makes no database of its own', async () => {
    const dataDir = await temporaryFolder();
    const env = { DATA_DIR: dataDir, DATABASE_URL: urlOf(name), SECRET_KEYS, DEMO: 'on', DEMO_API_KEY: KEY };
    const nodes = await Promise.all([1, 2].map(() => startService({ env })));
    await Promise.all(nodes.map((node) => node.says('Stop:')));
    for (const node of nodes) {
      assert.equal(await statusOf(`${node.origin}/api/v1/me`, { authorization: `Bearer ${KEY}` }), 200);
    }
    assert.equal(nodes.filter((node) => node.out().includes('Making the tables')).length, 1);
    const db = openDatabase({ address: { url: urlOf(name) }, poolSize: 1, onIdleError: () => {} });
    assert.equal((await db.query(sql`select id from organizations`)).length, 1);
    await db.close();
    for (const node of nodes) {
      node.signal('SIGTERM');
      assert.equal(await node.exit(), 0, node.err());
    }
    assert.equal(existsSync(join(dataDir, 'postgres')), false);
  });

  it('serves from a migrated database with a user who may only read and write', async () => {
    const db = openDatabase({ address: { url: urlOf(name) }, poolSize: 1, onIdleError: () => {} });
    await db.query(
      rawSql(`grant select, insert, update, delete on all tables in schema public to ${visitor};
        grant usage on all sequences in schema public to ${visitor}`),
    );
    const env = { DATA_DIR: await temporaryFolder(), DATABASE_URL: urlOf(name, visitor), SECRET_KEYS };
    const service = await startService({ env });
    await service.says('Stop:');
    assert.equal(await statusOf(`${service.origin}/api/v1/me`, { authorization: `Bearer ${KEY}` }), 200);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
    await db.query(rawSql(`drop owned by ${visitor}`));
    await db.close();
  });

  it('has its tables in the schema of DATABASE_SCHEMA, and is never taken for empty because it has them elsewhere', async () => {
    const db = admin();
    await db.query(rawSql(`create database ${name}_schema`));
    const DATABASE_URL = urlOf(`${name}_schema`);
    const common = { DATABASE_URL, SECRET_KEYS };
    const start = async (env: Record<string, string>) => ({
      env: { ...common, ...env, DATA_DIR: await temporaryFolder() },
    });
    const missing = await startAndFail(await start({ DATABASE_SCHEMA: 'shop' }));
    assert.match(
      missing.err(),
      /^crownwheel: the database has no schema shop; create it, or change DATABASE_SCHEMA\n$/,
    );
    const inside = openDatabase({ address: { url: DATABASE_URL }, poolSize: 1, onIdleError: () => {} });
    await inside.query(rawSql('create schema shop'));
    const service = await startService(await start({ DATABASE_SCHEMA: 'shop' }));
    await service.says('Stop:');
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0, service.err());
    assert.deepEqual(await inside.query(sql`select count(*) as count from shop.organizations`), [{ count: 0 }]);
    const elsewhere = await startAndFail(await start({}));
    assert.match(elsewhere.err(), /^crownwheel: the tables .* schema shop, not in public; set DATABASE_SCHEMA=shop\n$/);
    await inside.close();
    await db.query(rawSql(`drop database ${name}_schema with (force)`));
    await db.close();
  });

  it('has no demo data unless asked', async () => {
    const db = admin();
    await db.query(rawSql(`create database ${name}_empty template ${TEMPLATE_DATABASE}`));
    const env = { DATA_DIR: await temporaryFolder(), DATABASE_URL: urlOf(`${name}_empty`), SECRET_KEYS };
    const service = await startService({ env });
    await service.says('Stop:');
    assert.doesNotMatch(service.out(), /svc_/);
    service.signal('SIGTERM');
    assert.equal(await service.exit(), 0);
    await db.query(rawSql(`drop database ${name}_empty with (force)`));
    await db.close();
  });

  it('refuses what cannot work in one line each, and never shows a password', async () => {
    const nobodyHome = await freePort();
    const wrongs: [env: Record<string, string>, line: RegExp][] = [
      [{ DATABASE_URL: urlOf(name) }, /SECRET_KEYS is required with DATABASE_URL: .*/],
      [{ DATABASE_URL: urlOf(name), SECRET_KEYS: 'short' }, /SECRET_KEYS: every key must have at least 32 characters/],
      [
        { DATABASE_URL: `postgresql://me:hush@127.0.0.1:${nobodyHome}/x`, SECRET_KEYS },
        /the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:\d+; check DATABASE_URL/,
      ],
      [
        { DATABASE_URL: urlOf('no_such_database'), SECRET_KEYS },
        /the database cannot be reached: database "no_such_database" does not exist; .*/,
      ],
      [
        { DATABASE_URL: urlOf(name, 'nobody_knows'), SECRET_KEYS },
        /the database cannot be reached: role "nobody_knows" does not exist; .*/,
      ],
      [
        { DATABASE_URL: urlOf('postgres', visitor), SECRET_KEYS },
        /the database user cannot make tables: permission denied for schema public; .*/,
      ],
      [
        { DATABASE_URL: 'postgresql://me:hush@127.0.0.1/x?sslrootcert=/no/such/file', SECRET_KEYS },
        /the database cannot be reached: ENOENT.*; check DATABASE_URL/,
      ],
    ];
    await Promise.all(
      wrongs.map(async ([env, line]) => {
        const service = await startAndFail({ env: { DATA_DIR: await temporaryFolder(), ...env } });
        assert.match(service.err(), new RegExp(`^crownwheel: ${line.source}\\n$`));
        assert.doesNotMatch(service.out() + service.err(), /hush/);
      }),
    );
  });

  it('refuses a database that a newer release has migrated', async () => {
    const db = openDatabase({ address: { url: urlOf(name) }, poolSize: 1, onIdleError: () => {} });
    await db.query(sql`insert into schema_migrations (version, name, checksum) values (9999, '9999_later.sql', 'x')`);
    await db.close();
    const env = { DATA_DIR: await temporaryFolder(), DATABASE_URL: urlOf(name), SECRET_KEYS };
    const service = await startAndFail({ env });
    assert.match(
      service.err(),
      /^crownwheel: the database has migration 9999, which this release does not know: .*\n$/,
    );
  });
});
