import type { Database, Queryable } from '../../../src/db/database.ts';

/** What queries have answered, as the bytes of their rows in JSON. */
export type ResultSizes = {
  /** The same database, which counts. */
  db: Database;
  /** The largest result of one query. */
  largest(): number;
  total(): number;
};

export function measureResults(db: Database): ResultSizes {
  let largest = 0;
  let total = 0;
  const watch = <Asked extends Queryable>(queryable: Asked): Asked => ({
    ...queryable,
    async query(...args: Parameters<Queryable['query']>) {
      const rows = await queryable.query(...args);
      const bytes = Buffer.byteLength(JSON.stringify(rows));
      largest = Math.max(largest, bytes);
      total += bytes;
      return rows;
    },
  });
  return {
    db: { ...watch(db), transaction: (work, options) => db.transaction((tx) => work(watch(tx)), options) },
    largest: () => largest,
    total: () => total,
  };
}
