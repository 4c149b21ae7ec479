import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { cloneDatabase, type TestDatabase } from '../../test/harness/database/database.ts';
import { rawSql, sql } from '../db/sql.ts';

/** The functions as they were made first; rows written by them are searched beside newer ones. */
const FIRST: [file: string, name: string][] = [
  ['0059_order_pages.sql', 'order_search_words'],
  ['0067_customer_pages.sql', 'customer_search_words'],
];

const NAMES = [
  'Ana',
  'José-María',
  'Ångström',
  '',
  'Zoë "Z" \\ O’Neil',
  'ﬁne ① ﬃ',
  '王小明',
  'Müller\tvon  der\nHöh',
  'İstanbul ẞ',
];
const NUMBERS = [
  'SO-1',
  '#10/2026_a',
  '"customer":',
  ',"billing_address":',
  '{"customer":{"first_name":"x"}}',
  'x'.repeat(300),
  '...',
];

describe('the words that a search finds', () => {
  let database: TestDatabase;
  before(async () => {
    database = await cloneDatabase();
    for (const [file, name] of FIRST) {
      const migration = await readFile(`migrations/${file}`, 'utf8');
      const text = new RegExp(`create function ${name}[\\s\\S]*?\\n\\$\\$;`).exec(migration)?.[0] ?? assert.fail();
      await database.db.query(rawSql(text.replace(name, `first_${name}`)));
    }
  });
  after(() => database.drop());

  it('an order by are those that the first version of the function found', async () => {
    const documents = NUMBERS.flatMap((number) =>
      [null, ...NAMES].map((name) => ({ number, text: order(number, name) })),
    );
    // As another program may have left them: in another order, without the address, without the buyer.
    documents.push({
      number: 'SO-2',
      text: '{"billing_address":null,"shipping_address":{"name":"Ana B"},"customer":null}',
    });
    documents.push({ number: 'SO-3', text: '{"id":"ord_1","lines":[{"title":"customer"}]}' });
    documents.push({ number: 'SO-4', text: '{"id":"ord_1","customer":{"first_name":"Ana"}}' });
    const rows = await database.db.query<{ number: string }>(sql`
      select number from unnest(${documents.map(({ number }) => number)}::text[],
        ${documents.map(({ text }) => text)}::text[]) as rows (number, text)
      where order_search_words('org_01abcdef', number, text)
        is distinct from first_order_search_words('org_01abcdef', number, text)`);
    assert.deepEqual(rows, []);
  });

  it('a customer by are those that the first version of the function found', async () => {
    const all: (string | null)[] = [null, ...NAMES, ...NUMBERS];
    const rows = await database.db.query(sql`
      select one, other from unnest(${all}::text[]) one, unnest(${all}::text[]) other
      where customer_search_words('org_01abcdef', one, other, null, one, other)
        is distinct from first_customer_search_words('org_01abcdef', one, other, null, one, other)`);
    assert.deepEqual(rows, []);
  });
});

/** An order as the service writes it. */
function order(number: string, name: string | null): string {
  const customer =
    name === null
      ? null
      : {
          external_id: `web ${name}`,
          email: `${name}@example.ch`,
          phone: null,
          first_name: name,
          last_name: `${name} B`,
        };
  const address = name === null ? null : { name, line1: `\u2028 ${number}`, city: 'Genève' };
  return JSON.stringify({
    id: 'ord_1',
    channel_order_id: number,
    customer,
    customer_id: null,
    shipping_address: address,
    billing_address: address,
    lines: [{ title: name }],
    metadata: { customer: number },
  });
}
