import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../../test/harness/database/database.ts';
import { sqlState } from '../database.ts';
import { sql } from '../sql.ts';
import { unnestRows } from './unnest-rows.ts';

const ROWS = [
  { id: 'a', reservedUnits: 1, at: new Date(0), isOn: true, unused: 'x' },
  { id: 'b', reservedUnits: null, at: null, isOn: false, unused: 'y' },
];

describe('rows in SQL', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database.drop());

  it('are columns by the names of their fields, whatever their order', () => {
    const { text } = unnestRows('rows', ROWS, { reservedUnits: 'integer', id: 'text' });
    assert.equal(text, '(select unnest($1::integer[]), unnest($2::text[])) as rows (reserved_units, id)');
    const one = unnestRows('rows', ROWS.slice(1), { reservedUnits: 'integer', id: 'text' });
    assert.equal(one.text, '(values ($1::integer, $2::text)) as rows (reserved_units, id)');
    assert.deepEqual(one.values, [null, 'b']);
  });

  it('come back as they were, with their number if it is asked for', async () => {
    for (const rows of [[], ROWS.slice(1), ROWS]) {
      const types = { id: 'text', reservedUnits: 'integer', at: 'timestamptz', isOn: 'boolean' } as const;
      const found = await database.db.query(sql`
        select id, reserved_units as "reservedUnits", at, is_on as "isOn", number, ${'x'}::text as other
        from ${unnestRows('rows', rows, types, 'number')} where id <> ${'c'} order by number desc`);
      const expected = rows.map(({ unused: _, ...row }, index) => ({ ...row, number: index + 1, other: 'x' }));
      assert.deepEqual(found, expected.reverse());
    }
  });

  it('carry every text and all bytes as they are', async () => {
    const texts = ['plain', '', 'NULL', '{"a":"\\\\"}', 'two\nlines', 'Genève ☕ 🕰', null, '"\\'.repeat(20_000)];
    const rows = texts.map((text, index) => ({
      text,
      bytes: index === 1 ? null : Buffer.from([0, 255, 34, 92]).subarray(0, index),
    }));
    const types = { text: 'text', bytes: 'bytea' } as const;
    for (const count of [1, 2, rows.length]) {
      const some = rows.slice(-count);
      const found = await database.db.query(sql`
        select text, bytes from ${unnestRows('rows', some, types, 'number')} order by number`);
      assert.deepEqual(found, some);
    }
  });

  it('are refused with a text that the database can’t store, as such a text alone is', async () => {
    for (const rows of [[{ id: 'a\u0000' }], [{ id: 'a' }, { id: 'b\u0000' }]]) {
      const statement = sql`select id from ${unnestRows('rows', rows, { id: 'text' })}`;
      await assert.rejects(database.db.query(statement), (error) => sqlState(error) === '22021');
    }
  });
});
