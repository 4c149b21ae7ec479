import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { sql } from '../db/sql.ts';
import { rememberedContacts } from './former-contacts.ts';

describe('the former contacts of a customer', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database.drop());

  async function remembered(added: (string | null)[], former: string[]): Promise<string[]> {
    const contacts = rememberedContacts(sql`${added}`, sql`${former}::text[]`);
    const [row] = await database.db.query<{ contacts: string[] }>(sql`select ${contacts} as contacts`);
    return row?.contacts ?? assert.fail();
  }

  it('are each remembered once, the newest first', async () => {
    assert.deepEqual(await remembered(['c', null, 'b'], ['b', 'a']), ['c', 'b', 'a']);
    assert.deepEqual(await remembered([null, null], []), []);
  });

  it('are a hundred at most', async () => {
    const former = Array.from({ length: 100 }, (_, index) => `${index}@example.ch`);
    assert.deepEqual(await remembered(['new@example.ch'], former), ['new@example.ch', ...former.slice(0, 99)]);
  });

  it('are 4,000 characters at most, since a change of one writes all of them', async () => {
    const long = Array.from({ length: 100 }, (_, index) => `${index}@`.padEnd(500, 'x'));
    assert.deepEqual(await remembered(['new@example.ch'], long), ['new@example.ch', ...long.slice(0, 7)]);
  });
});
