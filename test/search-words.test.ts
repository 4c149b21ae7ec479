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
/** Of the shorter and the longer text in turn. Other work of the machine may hold up those of either; more of them even that out. */
const ROUNDS = { least: 5, most: 40 };
/** What four times the text may cost. The square would be 16 times as much. */
const MOST_TIMES = 8;

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

  it('of a customer are fifty at most, with the phone and the email among them', async () => {
    const names = (letter: string) => Array.from({ length: 100 }, (_, index) => `${letter}${index}`).join(' ');
    const [row] = await database.db.query<{ count: number; hasContacts: boolean }>(sql`
      select length(words) as count, words @@ '''org_1:41220000000'' & ''org_1:ana'' & ''org_1:example'''::tsquery as "hasContacts"
      from customer_search_words('org_1', ${names('a')}, ${names('b')}, ${names('c')}, 'ana@example.ch', '+41220000000') as words`);
    assert.deepEqual(row, { count: 50, hasContacts: true });
  });

  it('of other dealers wait for nobody: the list that gathers those of all is short in every index', async () => {
    const rows = await database.db.query<{ name: string; options: string[] | null }>(sql`
      select i.relname as name, i.reloptions as options
      from pg_class i join pg_am a on a.oid = i.relam where a.amname = 'gin' order by name`);
    assert.ok(rows.length >= 4);
    for (const { name, options } of rows) assert.ok(options?.includes('gin_pending_list_limit=256'), name);
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
        const textOf = (count: number) => `a${[...marks].map((mark) => mark.repeat(count / 2)).join('')}`;
        const timeOf = async (text: string) => {
          const startedAt = performance.now();
          await database.db.query(sql`select ${words(text)}`);
          return performance.now() - startedAt;
        };
        const [short, long] = [textOf(MARKS), textOf(4 * MARKS)];
        const best = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
        let ratio = Number.POSITIVE_INFINITY;
        for (let round = 1; round <= ROUNDS.most && (round <= ROUNDS.least || ratio >= MOST_TIMES); round++) {
          best.short = Math.min(best.short, await timeOf(short));
          best.long = Math.min(best.long, await timeOf(long));
          ratio = best.long / best.short;
        }
        ratios.push(`${name} ${ratio.toFixed(1)}`);
      }
    }
    assert.ok(
      ratios.every((ratio) => Number(ratio.split(' ')[1]) < MOST_TIMES),
      `four times the text took these times as long: ${ratios.join(', ')}`,
    );
  });
});
