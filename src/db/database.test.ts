import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { ApiError } from '../contract/errors.ts';
import { type Database, openDatabase, type Queryable, sqlState } from './database.ts';
import { rawSql, type Sql, sql } from './sql.ts';

describe('the database', () => {
  let database: TestDatabase;
  /** With one connection only, so that a test sees whether it is kept. */
  let db: Database;
  before(async () => {
    database = await cloneDatabase();
    await database.db.query(sql`create table notes (id integer primary key, text text not null)`);
    db = openDatabase({ address: database.address, poolSize: 1, onIdleError: () => {}, connectTimeoutMs: 200 });
  });
  beforeEach(async () => {
    await database.db.query(sql`truncate notes`);
    await database.db.query(sql`insert into notes (id, text) values (1, 'one'), (2, 'two')`);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const note = (on: Queryable, id: number, text: string) =>
    on.query(sql`insert into notes (id, text) values (${id}, ${text})`);
  const countNotes = async () =>
    (await database.db.query<{ count: number }>(sql`select count(*) as count from notes`))[0]?.count;
  const pidOf = async (on: Queryable) =>
    (await on.query<{ pid: number }>(sql`select pg_backend_pid() as pid`))[0]?.pid ?? assert.fail();

  describe('a transaction', () => {
    it('commits what its work did and returns what it returned', async () => {
      const result = await db.transaction(async (tx) => {
        await note(tx, 3, 'three');
        return 'done';
      });
      assert.equal(result, 'done');
      assert.equal(await countNotes(), 3);
    });

    it('rolls back on any error, throws it on, and keeps the connection', async () => {
      const pid = await pidOf(db);
      for (const thrown of [new Error('ours'), new ApiError('order_matched')]) {
        const failing = db.transaction(async (tx) => {
          await note(tx, 3, 'three');
          throw thrown;
        });
        await assert.rejects(failing, (error) => error === thrown);
      }
      const duplicate = db.transaction((tx) => note(tx, 1, 'again'));
      await assert.rejects(duplicate, (error) => sqlState(error) === '23505');
      assert.equal(await countNotes(), 2);
      assert.equal(await pidOf(db), pid);
    });

    it('does not pass for committed when its work went on after a failed statement', async () => {
      const careless = db.transaction(async (tx) => {
        await note(tx, 3, 'three');
        await note(tx, 1, 'again').catch(() => {});
      });
      await assert.rejects(careless, /nothing was committed/);
      assert.equal(await countNotes(), 2);
    });

    for (const [name, state] of Object.entries({ 'serialization failure': '40001', deadlock: '40P01' })) {
      it(`is tried again at most three times after a ${name}`, async () => {
        const fail = (tx: Queryable) =>
          tx.query(rawSql(`do $$ begin raise exception using errcode = '${state}'; end $$`));
        let attempts = 0;
        const hopeless = db.transaction(async (tx) => {
          attempts += 1;
          await note(tx, 3, 'three');
          await fail(tx);
        });
        await assert.rejects(hopeless, (error) => sqlState(error) === state);
        assert.equal(attempts, 4);
        assert.equal(await countNotes(), 2);

        attempts = 0;
        await db.transaction(async (tx) => {
          attempts += 1;
          await note(tx, 3, 'three');
          if (attempts < 4) await fail(tx);
        });
        assert.equal(await countNotes(), 3);
      });
    }

    it('is tried again when the failure is the cause of the error that its work throws', async () => {
      let attempts = 0;
      await db.transaction(async (tx) => {
        attempts += 1;
        if (attempts > 1) return;
        await tx
          .query(rawSql(`do $$ begin raise exception using errcode = '40001'; end $$`))
          .catch((cause: unknown) => {
            throw new ApiError('insert_failed', { cause });
          });
      });
      assert.equal(attempts, 2);
    });

    it('is not tried again after another error', async () => {
      let attempts = 0;
      const failing = db.transaction(async (tx) => {
        attempts += 1;
        await note(tx, 1, 'again');
      });
      await assert.rejects(failing);
      assert.equal(attempts, 1);
    });

    it('survives a real deadlock: both sides commit', async () => {
      let holding = 0;
      let bothHold: () => void = () => {};
      const meeting = new Promise<void>((resolve) => {
        bothHold = resolve;
      });
      const update = (tx: Queryable, id: number) => tx.query(sql`update notes set text = text || '!' where id = ${id}`);
      const lockBoth = (first: number, second: number) =>
        database.db.transaction(async (tx) => {
          await update(tx, first);
          holding += 1;
          if (holding === 2) bothHold();
          await meeting;
          await update(tx, second);
        });
      await Promise.all([lockBoth(1, 2), lockBoth(2, 1)]);
      const rows = await database.db.query<{ text: string }>(sql`select text from notes order by id`);
      assert.deepEqual(
        rows.map((row) => row.text),
        ['one!!', 'two!!'],
      );
    });
  });

  describe('a connection', () => {
    it('is kept after an error that the server reported', async () => {
      const pid = await pidOf(db);
      await assert.rejects(note(db, 1, 'again'));
      await assert.rejects(db.query(rawSql('select nonsense')));
      assert.equal(await pidOf(db), pid);
    });

    it('is replaced after the server ended it, idle or in use', async () => {
      const idle = await pidOf(db);
      await database.db.query(sql`select pg_terminate_backend(${idle}, 5000)`);
      const next = await retried(() => pidOf(db));
      assert.notEqual(next, idle);

      const sleeping = db.query(sql`select pg_sleep(20)`);
      const ended = assert.rejects(sleeping);
      await untilBusy(next);
      await database.db.query(sql`select pg_terminate_backend(${next}, 5000)`);
      await ended;
      assert.notEqual(await pidOf(db), next);
    });

    it('is replaced when it ends within a transaction, which fails', async () => {
      const pid = await pidOf(db);
      const cut = db.transaction(async (tx) => {
        await note(tx, 3, 'three');
        await database.db.query(sql`select pg_terminate_backend(${pid}, 5000)`);
        await note(tx, 4, 'four');
      });
      await assert.rejects(cut);
      assert.equal(await countNotes(), 2);
      assert.notEqual(await pidOf(db), pid);
    });

    it('fails its query and nothing else when the server takes its leave in the packet that welcomes it', async () => {
      const leaving = createServer((socket) => socket.on('data', () => socket.end(WELCOME_AND_GOODBYE)));
      await new Promise<void>((resolve) => leaving.listen(0, '127.0.0.1', resolve));
      const { port } = leaving.address() as AddressInfo;
      const url = `postgres://nobody@127.0.0.1:${port}/nothing`;
      const hopeless = openDatabase({ address: { url }, poolSize: 1, onIdleError: () => {} });
      await assert.rejects(hopeless.query(sql`select 1`));
      await hopeless.close();
      leaving.close();
    });

    it('is given up with the query whose caller waits no longer', async () => {
      const pid = await pidOf(db);
      await assert.rejects(db.query(sql`select pg_sleep(20)`, { timeoutMs: 50 }), /timeout/);
      assert.notEqual(await pidOf(db), pid);
    });

    it('is waited for no longer than the limit when all are in use, and served when one is free', async () => {
      await db.transaction(async () => {
        await assert.rejects(db.query(sql`select 1`), /timeout/);
      });
      assert.equal((await db.query(sql`select 1`)).length, 1);
    });
  });

  it('ends a statement that takes too long', async () => {
    const brief = openDatabase({
      address: database.address,
      poolSize: 1,
      onIdleError: () => {},
      statementTimeoutMs: 100,
    });
    const pid = await pidOf(brief);
    await assert.rejects(brief.query(sql`select pg_sleep(20)`), (error) => sqlState(error) === '57014');
    assert.equal(await pidOf(brief), pid);
    await brief.close();
  });

  it('reads int8 as a number, and refuses one that a number cannot hold', async () => {
    const rows = await db.query(sql`select 9007199254740991::int8 as most, -9007199254740991::int8 as least`);
    assert.deepEqual(rows, [{ most: Number.MAX_SAFE_INTEGER, least: Number.MIN_SAFE_INTEGER }]);
    await assert.rejects(db.query(sql`select 9007199254740992::int8 as beyond`), RangeError);
    assert.deepEqual(await db.query(sql`select count(*) as count from notes`), [{ count: 2 }]);
  });

  it('prepares each statement once for a connection, by its call site', async () => {
    const read = (id: number) => db.query(sql`select text /* once */ from notes where id = ${id}`);
    for (const id of [1, 2, 3]) await read(id);
    const prepared = await db.query<{ name: string }>(
      sql`select name from pg_prepared_statements where statement like ${'%/* once */%'}
        and statement not like '%pg_prepared%'`,
    );
    assert.equal(prepared.length, 1);
  });

  /** The pool learns of an ended connection a moment after the server does. */
  async function retried<Result>(read: () => Promise<Result>): Promise<Result> {
    return await read().catch(read);
  }

  async function untilBusy(pid: number): Promise<void> {
    for (;;) {
      const [row] = await database.db.query<{ state: string }>(
        sql`select state from pg_stat_activity where pid = ${pid} and query like '%pg_sleep%'`,
      );
      if (row?.state === 'active') return;
    }
  }
});

/** AuthenticationOk, ReadyForQuery and a fatal ErrorResponse, at once: no real server can be made to do so on demand. */
const WELCOME_AND_GOODBYE = (() => {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
  ]);
})();

describe('the sql tag', () => {
  it('turns values into parameters, never into text', () => {
    const statement = sql`select ${1} as a, ${"x'; drop table notes"} as b`;
    assert.equal(statement.text, 'select $1 as a, $2 as b');
    assert.deepEqual(statement.values, [1, "x'; drop table notes"]);
  });

  it('splices statements into statements and numbers their parameters anew', () => {
    const inner = sql`b = ${'b'} and c = ${'c'}`;
    const both = sql`a = ${'a'} and ${inner} and d = ${'d'} and ${sql`e = ${'e'}`}`;
    assert.equal(both.text, 'a = $1 and b = $2 and c = $3 and d = $4 and e = $5');
    assert.deepEqual(both.values, ['a', 'b', 'c', 'd', 'e']);
    const deep = sql`${sql`${inner} or ${sql`f = ${'f'}`}`} or ${inner}`;
    assert.equal(deep.text, 'b = $1 and c = $2 or f = $3 or b = $4 and c = $5');
    assert.deepEqual(deep.values, ['b', 'c', 'f', 'b', 'c']);
  });

  it('numbers more than nine parameters right', () => {
    const ten = sql`${1},${2},${3},${4},${5},${6},${7},${8},${9},${10}`;
    assert.equal(sql`(${0},${ten})`.text, '($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)');
  });

  it('names a statement by its call site, and a composed one by its text', () => {
    const read = (id: number) => sql`select ${id}`;
    assert.ok(read(1).name);
    assert.equal(read(1).name, read(2).name);
    assert.notEqual(read(1).name, sql`select ${1}`.name);
    const composed = (part: Sql, value: number) => sql`select ${part} ${value}`;
    assert.ok(composed(sql`1,`, 2).name);
    assert.equal(composed(sql`1,`, 2).name, composed(sql`1,`, 3).name);
    assert.notEqual(composed(sql`1,`, 2).name, composed(sql`2,`, 2).name);
    assert.equal(rawSql('select 1').name, undefined);
  });
});
