import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sourceFiles } from './source-files.ts';

/** Why what is in each of these does no harm. */
const ALLOWED: Record<string, string> = {
  'src/db/pipeline/statement-batch.ts': 'lives as long as its connection',
  'src/db/sql.ts': 'lives as long as the code',
  'src/db/values/unnest-rows.ts': 'lives as long as the code',
  'src/http/dashboard/routes/home.ts': 'lives as long as its pool',
  'src/http/json/json-body.ts': 'is an id',
};

/** Decision 31: a collection of young objects keeps the values of a WeakMap, with all that they refer to. */
describe('a WeakMap', () => {
  it('holds nothing of a single request', async () => {
    const files = await sourceFiles('src');
    const found = files.filter(({ text }) => /new WeakMap\b/.test(text)).map(({ path }) => path);
    assert.deepEqual(found, Object.keys(ALLOWED), 'make it a property of the object, or say here why it does no harm');
  });
});
