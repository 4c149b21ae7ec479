import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../../test/harness/database/database.ts';
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
    const { text, values } = unnestRows('rows', ROWS, { reservedUnits: 'integer', id: 'text' });
    assert.equal(text, 'unnest($1::integer[], $2::text[]) as rows (reserved_units, id)');
    assert.deepEqual(values, [
      [1, null],
      ['a', 'b'],
    ]);
  });

  it('come back as they were, with their number if it is asked for', async () => {
    const types = { id: 'text', reservedUnits: 'integer', at: 'timestamptz', isOn: 'boolean' } as const;
    const found = await database.db.query(sql`
      select id, reserved_units as "reservedUnits", at, is_on as "isOn", number, ${'x'}::text as other
      from ${unnestRows('rows', ROWS, types, 'number')} where id <> ${'c'} order by number desc`);
    const expected = ROWS.map(({ unused: _, ...row }, index) => ({ ...row, number: index + 1, other: 'x' }));
    assert.deepEqual(found, expected.reverse());
  });

  it('of which there is one with a long text are not escaped as arrays are, and come back the same', async () => {
    const types = { id: 'text', reservedUnits: 'integer', at: 'timestamptz', isOn: 'boolean', bytes: 'bytea' } as const;
    const id = '"\\'.repeat(20_000);
    const row = { id, reservedUnits: null, at: new Date(0), isOn: true, bytes: Buffer.from([0, 255]) };
    const rows = unnestRows('rows', [row], types, 'number');
    assert.match(rows.text, /^\(values \(\$1::text, /);
    const found = await database.db.query(sql`
      select id, reserved_units as "reservedUnits", at, is_on as "isOn", bytes, number from ${rows}
      where id <> ${'c'}`);
    assert.deepEqual(found, [{ ...row, number: 1 }]);
  });
});
