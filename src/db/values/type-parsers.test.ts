import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { cloneDatabase, type TestDatabase } from '../../../test/harness/database/database.ts';
import { rawSql, sql } from '../sql.ts';

const FIRST_MS = Date.UTC(-1_000, 0, 1);
const LAST_MS = Date.UTC(11_000, 0, 1);

describe('values that the database sends', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database?.drop());

  it('are the times that were sent to it, to the millisecond, in any year', async () => {
    const times = fc.sample(fc.integer({ min: FIRST_MS, max: LAST_MS }), 2_000).map((ms) => new Date(ms));
    const round = [0, 1, 10, 100, 999, 1_000, 86_400_000].map((ms) => new Date(ms));
    const sent = [...times, ...round];
    const rows = await database.db.query<{ time: Date }>(sql`
      select time from unnest(${sent}::timestamptz[]) with ordinality as rows (time, position) order by position`);
    assert.deepEqual(
      rows.map(({ time }) => time),
      sent,
    );
  });

  it('are times without what is finer than a millisecond, and those that are no time', async () => {
    const [row] = await database.db.query(
      rawSql(`select timestamptz '2026-05-07 09:30:00.123999+02' as fine, timestamptz '2026-05-07 09:30:00.000001Z' as finer,
        timestamptz '0044-03-15 12:00:00Z BC' as ancient, timestamptz 'infinity' as never, null::timestamptz as unknown`),
    );
    assert.deepEqual(row, {
      fine: new Date('2026-05-07T07:30:00.123Z'),
      finer: new Date('2026-05-07T09:30:00.000Z'),
      ancient: new Date('-000043-03-15T12:00:00.000Z'),
      never: Number.POSITIVE_INFINITY,
      unknown: null,
    });
  });

  it('are the same in an array of times', async () => {
    const sent = [new Date('2026-05-07T09:30:00.120Z'), new Date('0999-01-01T00:00:00.000Z')];
    assert.deepEqual(await database.db.query(sql`select ${sent}::timestamptz[] as times`), [{ times: sent }]);
  });
});
