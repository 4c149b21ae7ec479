import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { countedDatabase, storedBytes } from './counted-database.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';
import { unnestRows } from './values/unnest-rows.ts';

const TEXT = 'é'.repeat(500);

describe('what a statement stores', () => {
  it('is the bytes of its values, of each row of an array, and nothing for reads, locks and deletions', () => {
    const one = storedBytes(sql`insert into notes (text) values (${TEXT})`);
    assert.ok(one >= 1_000 && one < 1_100, String(one));
    const rows = Array.from({ length: 10 }, () => ({ text: TEXT }));
    assert.equal(
      storedBytes(sql`insert into notes select text from ${unnestRows('rows', rows, { text: 'text' })}`),
      10 * one,
    );
    assert.equal(storedBytes(sql`update notes n set text = ${TEXT}`), one);
    assert.equal(
      storedBytes(sql`with held as (update notes set text = ${TEXT} returning id) select id from held`),
      one,
    );
    assert.equal(storedBytes(sql`insert into notes (bytes) values (${Buffer.alloc(1_000)})`), one);
    for (const statement of [
      sql`select id from notes where text = ${TEXT} for no key update`,
      sql`select id from notes where text = ${TEXT} for update`,
      sql`delete from notes where text = ${TEXT}`,
    ]) {
      assert.equal(storedBytes(statement), 0, statement.text);
    }
  });
});

describe('a database that counts', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await cloneDatabase();
    await database.db.query(sql`create table notes (id serial primary key, text text not null)`);
    await database.db.query(
      sql`create table counts (name text primary key, bytes bigint not null, raised integer not null)`,
    );
    db = countedDatabase(
      database.db,
      (bytes) => sql`
        insert into counts (name, bytes, raised) values ('all', ${bytes}, 1)
        on conflict (name) do update set bytes = counts.bytes + excluded.bytes, raised = counts.raised + 1`,
    );
  });
  beforeEach(async () => {
    await database.db.query(sql`delete from counts`);
  });
  after(() => database.drop());

  const count = async () =>
    (await database.db.query<{ bytes: number; raised: number }>(sql`select bytes, raised from counts`))[0];
  const note = sql`insert into notes (text) values (${TEXT})`;

  it('raises the count once for a transaction, with all that its queries and deferred statements store', async () => {
    await db.transaction(async (tx) => {
      await tx.query(note);
      await tx.query(sql`select id from notes where text = ${TEXT}`);
      tx.defer(note);
    });
    const { bytes = 0, raised } = (await count()) ?? {};
    assert.equal(raised, 1);
    assert.ok(bytes >= 2_000 && bytes < 4_000, String(bytes));
    await db.transaction((tx) => tx.queryLast(note));
    assert.equal((await count())?.raised, 2);
    await db.query(note);
    assert.equal((await count())?.raised, 3);
  });

  it('counts nothing for what is rolled back, read or deleted', async () => {
    await assert.rejects(
      db.transaction(async (tx) => {
        await tx.query(note);
        throw new Error('no');
      }),
    );
    await assert.rejects(db.query(sql`insert into notes (id, text) values (${1}, ${TEXT}), (${1}, ${TEXT})`));
    await db.query(sql`delete from notes where text = ${TEXT}`);
    await db.transaction((tx) => tx.query(sql`select id from notes where text = ${TEXT}`));
    assert.equal(await count(), undefined);
  });
});
