import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../src/db/sql.ts';
import { cloneDatabase, type TestDatabase } from './harness/database/database.ts';

const TEXTS = [
  'Zürich Genève Ångström naïve',
  'e\u0301te\u0301 Vi\u1ec7t Nam \u1e9b\u0323 ﬁn',
  'Часы Москва Ёлкин',
  'שָׁלוֹם עולם',
  'مَرْحَبًا بالعالم',
  '時計店の東京本店。ガラス ｶﾞﾗｽ',
  'Ω ℡ ½ ㎏ … \u00a0 x',
  '',
  'plain ASCII, with (marks)',
];
/** Accents that the normal form has in the other order. */
const SWAPPED_MARKS = ['\u0301\u0323', '\u05c2\u05b0'];
const MARKS = 4_000;
const ATTEMPTS = 5;

describe('the words of a search', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
  });
  after(() => database.drop());

  it('are those of the whole text in its normal form, in every script', async () => {
    for (const text of [...TEXTS, TEXTS.join(' ')]) {
      const [row] = await database.db.query<{ words: string[]; wanted: string[] }>(sql`
        select search_words(${text}) as words, array_remove(regexp_split_to_array(
          lower(regexp_replace(normalize(${text}, NFKD), E'[\\u0300-\\u036f]', '', 'g')),
          E'[\\\\s!-/:-@\\\\[-\`{-~]+'), '') as wanted`);
      assert.deepEqual(row?.words, row?.wanted, text);
    }
  });

  it('cost no more than in proportion to the text, whatever accents follow each other', async () => {
    const functions = {
      search: (text: string) => sql`search_words(${text})`,
      customer: (text: string) => sql`customer_search_words('org_1', ${text}, '', '', '', '')`,
      order: (text: string) =>
        sql`order_search_words('org_1', 'SO-1', ${JSON.stringify({ customer: { first_name: text } })})`,
      item: (text: string) => sql`item_search_words('org_1', 'W-1', ${text}, '{}'::jsonb)`,
    };
    const ratios: string[] = [];
    for (const [name, words] of Object.entries(functions)) {
      for (const marks of SWAPPED_MARKS) {
        const timeOf = async (count: number) => {
          const text = `a${[...marks].map((mark) => mark.repeat(count / 2)).join('')}`;
          let best = Number.POSITIVE_INFINITY;
          for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
            const startedAt = performance.now();
            await database.db.query(sql`select ${words(text)}`);
            best = Math.min(best, performance.now() - startedAt);
          }
          return best;
        };
        const ratio = (await timeOf(4 * MARKS)) / (await timeOf(MARKS));
        ratios.push(`${name} ${ratio.toFixed(1)}`);
      }
    }
    // The square would be 16 times as much.
    assert.ok(
      ratios.every((ratio) => Number(ratio.split(' ')[1]) < 8),
      `four times the text took these times as long: ${ratios.join(', ')}`,
    );
  });
});
