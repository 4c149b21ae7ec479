import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from './sql.ts';

describe('a statement with others inside', () => {
  const find = (status: string | null, ids: string[]) =>
    sql`select id from orders where id = any(${ids}) ${status === null ? sql`` : sql`and status = ${status}`} limit ${5}`;

  it('numbers the values of all of them in the order of the text', () => {
    const { text, values } = find('received', ['a']);
    assert.equal(text, 'select id from orders where id = any($1) and status = $2 limit $3');
    assert.deepEqual(values, [['a'], 'received', 5]);
  });

  it('has one name for each text, also when its parts alternate', () => {
    const all = ['received', null, 'matched', null].map((status, index) => find(status, [String(index)]));
    assert.deepEqual(
      all.map(({ values }) => values),
      [
        [['0'], 'received', 5],
        [['1'], 5],
        [['2'], 'matched', 5],
        [['3'], 5],
      ],
    );
    const [with1, without1, with2, without2] = all;
    assert.equal(with1?.name, with2?.name);
    assert.equal(without1?.name, without2?.name);
    assert.notEqual(with1?.name, without1?.name);
    assert.equal(without1?.text, 'select id from orders where id = any($1)  limit $2');
  });

  it('can have a value where a part stood before', () => {
    const either = (part: unknown) => sql`select ${part}`;
    assert.equal(either(sql`now()`).text, 'select now()');
    assert.equal(sql`select ${sql`${1} + ${2}`}, ${3}`.text, 'select $1 + $2, $3');
    assert.deepEqual([either(1).text, either(1).values], ['select $1', [1]]);
  });
});
