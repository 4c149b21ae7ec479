import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../../test/harness/database/database.ts';
import { countRoundTrips } from '../../../test/harness/database/round-trips.ts';
import { type Database, openDatabase, sqlState, type Transaction } from '../database.ts';
import { rawSql, sql } from '../sql.ts';

describe('the statements of a transaction', () => {
  let database: TestDatabase;
  /** With one connection only, so that a test sees whether it is kept. */
  let db: Database;
  before(async () => {
    database = await cloneDatabase();
    await database.db.query(sql`create table notes (id integer primary key, text text not null)`);
    db = openDatabase({ address: database.address, poolSize: 1, onIdleError: () => {} });
  });
  beforeEach(async () => {
    await database.db.query(sql`truncate notes`);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const insert = (id: number) => sql`insert into notes (id, text) values (${id}, 'a note')`;
  const read = async (tx: Pick<Transaction, 'query'>) =>
    (await tx.query<{ id: number }>(sql`select id from notes order by id`)).map(({ id }) => id);
  const roundTrips = async (work: (tx: Transaction) => Promise<unknown>) => {
    const trips = countRoundTrips(db);
    try {
      await db.transaction(work);
    } finally {
      trips.stop();
    }
    return trips.all();
  };

  it('go together if nobody waits for the one before, in the order of the calls', async () => {
    const seen: number[][] = [];
    const trips = await roundTrips(async (tx) => {
      const calls = [tx.query(insert(1)), read(tx), tx.query(insert(2)), read(tx)] as const;
      const [, one, , two] = await Promise.all(calls);
      seen.push(one, two);
    });
    assert.deepEqual(seen, [[1], [1, 2]]);
    assert.deepEqual(
      trips.map((statements) => statements.length),
      [5, 1],
    );
    assert.equal(trips[0]?.[0], 'begin');
    assert.deepEqual(trips[1], ['commit']);
  });

  it('go with the next query if they are deferred, or with the commit', async () => {
    const trips = await roundTrips(async (tx) => {
      tx.defer(insert(1));
      assert.deepEqual(await read(tx), [1]);
      tx.defer(insert(2));
      tx.defer(insert(3));
    });
    assert.deepEqual(
      trips.map((statements) => statements.length),
      [3, 3],
    );
    assert.deepEqual(await read(db), [1, 2, 3]);
  });

  it('go at once if what was deferred is flushed, and nobody has to wait for that', async () => {
    const order: string[] = [];
    const trips = await roundTrips(async (tx) => {
      tx.defer(insert(1), () => order.push('deferred'));
      tx.defer(insert(2));
      const flushed = tx.flush().then(() => order.push('flushed'));
      tx.defer(insert(3));
      await flushed;
      await tx.flush();
      await tx.flush();
    });
    assert.deepEqual(
      trips.map((statements) => statements.length),
      [4, 1],
    );
    assert.deepEqual(order, ['deferred', 'flushed']);
    assert.deepEqual(await read(db), [1, 2, 3]);
  });

  it('fail with the flush that sent them', async () => {
    const failing = db.transaction(async (tx) => {
      tx.defer(insert(1));
      tx.defer(insert(1));
      await tx.flush();
    });
    await assert.rejects(failing, (error) => sqlState(error) === '23505');
    assert.deepEqual(await read(db), []);
  });

  it('are never begun if there are none', async () => {
    assert.deepEqual(await roundTrips(async () => 'nothing'), []);
    await assert.rejects(
      db.transaction(async (tx) => {
        tx.defer(insert(1));
        throw new Error('ours');
      }),
      /ours/,
    );
    assert.deepEqual(await read(db), []);
  });

  it('fail with the one that was deferred, whoever comes next, and leave nothing behind', async () => {
    const pid = () => db.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const before = await pid();
    for (const next of [read, async () => 'the commit']) {
      const failing = db.transaction(async (tx) => {
        tx.defer(insert(1));
        tx.defer(insert(1));
        tx.defer(insert(2));
        await next(tx);
      });
      await assert.rejects(failing, (error) => sqlState(error) === '23505');
      assert.deepEqual(await read(db), []);
    }
    assert.deepEqual(await pid(), before);
  });

  it('are prepared anew if the server skipped them behind a failed one', async () => {
    const skipped = () => sql`select ${1}::integer as skipped`;
    await assert.rejects(db.transaction(async (tx) => await Promise.all([tx.query(rawError()), tx.query(skipped())])));
    assert.deepEqual(await db.query(skipped()), [{ skipped: 1 }]);
    assert.deepEqual(await db.query(skipped()), [{ skipped: 1 }]);
  });

  it('may be a script of several, which goes alone', async () => {
    await db.transaction(async (tx) => {
      tx.defer(insert(1));
      await tx.query(rawSql(`insert into notes values (2, 'two'); insert into notes values (3, 'three')`));
      tx.defer(insert(4));
    });
    assert.deepEqual(await read(db), [1, 2, 3, 4]);
  });

  it('can be refused before they are sent, for a value that is none', async () => {
    const failing = db.transaction(async (tx) => {
      tx.defer(insert(1));
      await tx.query(sql`select ${new Date(Number.NaN)}::timestamptz`);
    });
    await assert.rejects(failing, RangeError);
    assert.deepEqual(await read(db), []);
  });

  it('carry every kind of value as it is', async () => {
    const texts = [
      'plain',
      '',
      'NULL',
      'a "quote"',
      'a \\ backslash\\"',
      '{braces},',
      'two\nlines',
      'Genève ☕ 🕰',
      null,
    ];
    const at = new Date('2026-05-07T10:11:12.345Z');
    const bytes = Buffer.from([0, 1, 254, 255, 34, 92]);
    const [row] = await db.query<Record<string, unknown>>(sql`
      select ${texts}::text[] as texts, ${texts[4]}::text as text, ${[1, -2, null]}::integer[] as numbers,
        ${[true, false]}::boolean[] as booleans, ${at}::timestamptz as at, ${[at, null]}::timestamptz[] as times,
        ${bytes}::bytea as bytes, ${[bytes, null]}::bytea[] as many, ${{ a: ['"', 1] }}::jsonb as json, ${null}::text as none,
        ${2 ** 40}::bigint as large, ${[['a', '"'], ['b', null]]}::text[] as nested`);
    assert.deepEqual(row, {
      texts,
      text: texts[4],
      numbers: [1, -2, null],
      booleans: [true, false],
      at,
      times: [at, null],
      bytes,
      many: [bytes, null],
      json: { a: ['"', 1] },
      none: null,
      large: 2 ** 40,
      nested: [
        ['a', '"'],
        ['b', null],
      ],
    });
  });

  const rawError = () => sql`select 1 / ${0}::integer`;
});
