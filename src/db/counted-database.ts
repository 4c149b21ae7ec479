import type { Database, QueryLimits, Transaction } from './database.ts';
import type { Sql } from './sql.ts';
import { BinaryArray } from './values/binary-array.ts';

/**
 * A database that counts what is stored through it: the bytes that its statements carry to be inserted or updated, whoever
 * wrote the statements. So a change of one price counts the event on each of a hundred channels, and what an operation adds
 * later is counted without being thought of.
 *
 * `raise` is the statement that adds to the count. It runs last in the transaction that stores the bytes, together with the
 * commit: it costs no round trip, holds its row only until the commit, and a rollback counts nothing. What is copied from
 * table to table inside of the server is not seen.
 */
export function countedDatabase(db: Database, raise: (bytes: number) => Sql): Database {
  return {
    ...db,
    async query<Row extends object>(statement: Sql, limits?: QueryLimits): Promise<Row[]> {
      const bytes = storedBytes(statement);
      if (bytes === 0) return await db.query<Row>(statement, limits);
      return await db.transaction(async (tx) => {
        const rows = await tx.query<Row>(statement, limits);
        tx.defer(raise(bytes + COUNTED_BYTES_PER_TRANSACTION));
        return rows;
      });
    },
    transaction: (work, options) =>
      db.transaction(async (tx) => {
        let isRaised = false;
        const end = (bytes: number) => {
          if (bytes > 0 && !isRaised) tx.defer(raise(bytes + COUNTED_BYTES_PER_TRANSACTION));
          isRaised = true;
        };
        const tally = talliedTransaction(tx, end);
        const result = await work(tally.tx);
        end(tally.storedBytes());
        return result;
      }, options),
  };
}

/** A database that says what the statements of its last transaction have stored so far; who uses it counts that himself. */
export function talliedDatabase(db: Database): { db: Database; storedBytes(): number } {
  let storedBytes = () => 0;
  return {
    db: {
      ...db,
      transaction: (work, options) =>
        db.transaction((tx) => {
          const tally = talliedTransaction(tx);
          storedBytes = tally.storedBytes;
          return work(tally.tx);
        }, options),
    },
    storedBytes: () => storedBytes(),
  };
}

/** Of each transaction that stores something: the commit, and rows that the server makes by itself, as triggers do. */
const COUNTED_BYTES_PER_TRANSACTION = 1_024;
/** Of each value: its share of the row's header and of the indexes. */
const COUNTED_BYTES_PER_VALUE = 32;

function talliedTransaction(
  tx: Transaction,
  beforeLast: (bytes: number) => void = () => {},
): { tx: Transaction; storedBytes(): number } {
  let bytes = 0;
  return {
    storedBytes: () => bytes,
    tx: {
      isTransaction: true,
      async query<Row extends object>(statement: Sql, limits?: QueryLimits): Promise<Row[]> {
        bytes += storedBytes(statement);
        return await tx.query<Row>(statement, limits);
      },
      defer<Row extends object>(statement: Sql, onRows?: (rows: Row[]) => void): void {
        bytes += storedBytes(statement);
        tx.defer<Row>(statement, onRows);
      },
      flush: () => tx.flush(),
      async queryLast<Row extends object>(statement: Sql): Promise<Row[]> {
        bytes += storedBytes(statement);
        beforeLast(bytes);
        return await tx.queryLast<Row>(statement);
      },
    },
  };
}

/** A lock is no update, and what is deleted is not stored. */
const STORES = /\binsert\s+into\s|\bupdate\s+\w+\s+(?:\w+\s+)?set\s/;
const storesByText = new Map<string, boolean>();
/** More than there are statements in the program; those beyond are looked at each time. */
const TEXTS_LIMIT = 5_000;

/** What a statement carries to be stored; 0 if it only reads or deletes. */
export function storedBytes({ text, values }: Sql): number {
  if (!isStoring(text)) return 0;
  let bytes = 0;
  for (const value of values) bytes += bytesOf(value);
  return bytes;
}

function isStoring(text: string): boolean {
  const known = storesByText.get(text);
  if (known !== undefined) return known;
  const stores = STORES.test(text);
  if (storesByText.size < TEXTS_LIMIT) storesByText.set(text, stores);
  return stores;
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + COUNTED_BYTES_PER_VALUE;
  if (typeof value !== 'object' || value === null || value instanceof Date) return COUNTED_BYTES_PER_VALUE;
  if (ArrayBuffer.isView(value)) return value.byteLength + COUNTED_BYTES_PER_VALUE;
  const elements = value instanceof BinaryArray ? value.elements : value;
  if (!Array.isArray(elements)) return Buffer.byteLength(JSON.stringify(value)) + COUNTED_BYTES_PER_VALUE;
  let bytes = 0;
  for (const element of elements) bytes += bytesOf(element);
  return bytes;
}
