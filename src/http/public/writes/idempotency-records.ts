import { createHash } from 'node:crypto';
import type { Steps } from '../../../concurrency/time-slices.ts';
import { ApiError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_RETENTION_HOURS } from '../../../contract/limits.ts';
import { idempotencyLock } from '../../../db/advisory-locks.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { documentsWithin, PIECE_BYTES } from '../../../db/large-pages.ts';
import { sql } from '../../../db/sql.ts';
import { transactionTime, utcDay } from '../../../db/sql-time.ts';
import { unnestRows } from '../../../db/values/unnest-rows.ts';
import { erasedKey } from '../../../sales/erasure/erased-key.ts';
import { leastBytes, raiseCount, type StorageQuota, storedByDealer } from './storage-quota.ts';
import type { WriteAnswer, WriteOutcome } from './write-outcome.ts';

/**
 * Writes that are safe to retry. The answer to a write is recorded under its key in the write's own transaction; the
 * same request again gets that answer. Only success spends a key: a failure changed nothing, so the key may run again.
 */
export type WriteRequest = {
  integrationId: string;
  key: string;
  /** SHA-256 of method, path and body. */
  fingerprint: Buffer;
  requestId: string;
  /** The size of the body, for the storage quota. */
  bodyBytes: number;
};

/** An answer to be recorded; what is about test data is deleted with it. */
export type NewRecord = { request: WriteRequest; answer: WriteAnswer; isTest: boolean };

/** About 0.2 ms. */
const FINGERPRINT_STEP_BYTES = 131_072;

export function* fingerprintSteps(method: string, path: string, body: Buffer): Steps<Buffer> {
  const hash = createHash('sha256').update(`${method} ${path}\n`);
  for (let from = 0; from < body.length; from += FINGERPRINT_STEP_BYTES) {
    if (from > 0) yield;
    hash.update(body.subarray(from, from + FINGERPRINT_STEP_BYTES));
  }
  return hash.digest();
}

/** Takes the keys that are free; returns which. It never waits: a connection that did would be missed by others. */
export async function tryLockKeys(tx: Transaction, requests: WriteRequest[]): Promise<boolean[]> {
  const names = requests.map(({ integrationId, key }) => idempotencyLock(integrationId, key));
  const rows = await tx.query<{ locked: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended(name, 0)) as locked
    from unnest(${names}::text[]) with ordinality as rows (name, position) order by position`);
  return rows.map((row) => row.locked);
}

type RecordRow = { key: string; fingerprint: Buffer; status: number; body: string; request_id: string };
/** The key is null if there is no record, the body also if the answers before it are large. */
type FoundRow = Omit<RecordRow, 'key' | 'body'> & {
  key: string | null;
  body: string | null;
  now: Date;
  stored_bytes: number;
  dealer_bytes: number;
};

export type FoundRecords = {
  /** By key. If the answers are large together, only the first of them are read. */
  records: Map<string, RecordRow | 'not read'>;
  /** What the integration has stored today. */
  storedBytes: number;
  /** What all integrations of its dealer have stored; 0 if the quota does not ask for it. */
  dealerBytes: number;
  /** The database's time. */
  now: Date;
};

/**
 * The recorded answers to some requests of one integration, and in the same round trip what it has stored today. A
 * statement of its own, after the locks.
 */
export async function findRecords(
  tx: Transaction,
  requests: WriteRequest[],
  quota: StorageQuota,
  testTime: Date | null,
): Promise<FoundRecords> {
  const integrationId = requests[0]?.integrationId ?? '';
  // A key that named an erased person is stored as its digest.
  const keyOf = new Map(requests.flatMap(({ key }) => [[key, key] as const, [erasedKey(key), key] as const]));
  const keys = [...keyOf.keys()];
  const body = documentsWithin(PIECE_BYTES, sql`r.body`, sql`array_position(${keys}::text[], r.key)`);
  const rows = await tx.query<FoundRow>(sql`
    select clock.now, coalesce(u.bytes, 0) as stored_bytes,
      case when u.bytes >= ${quota.askedFromBytes}
        then (${storedByDealer(quota.organizationId, utcDay(sql`clock.now`))}) else 0 end as dealer_bytes,
      r.key, r.fingerprint, r.status, ${body} as body, r.request_id
    from (select ${transactionTime(testTime)} as now) as clock
    left join storage_usage u on u.integration_id = ${integrationId} and u.day = ${utcDay(sql`clock.now`)}
    left join idempotency_records r on r.integration_id = ${integrationId}
      and r.key = any(${keys}::text[])
      and r.created_at > clock.now - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS})`);
  const records: FoundRecords['records'] = new Map();
  for (const { key, body, ...row } of rows) {
    if (key !== null) records.set(keyOf.get(key) ?? key, body === null ? 'not read' : { ...row, key, body });
  }
  const [first] = rows;
  if (first === undefined) throw new Error('the lookup of idempotency records answered no row');
  return { records, storedBytes: first.stored_bytes, dealerBytes: first.dealer_bytes, now: first.now };
}

/** The recorded answer, if it is one to this request; another body under the same key is refused. */
export function replayOf(record: RecordRow, request: WriteRequest): WriteOutcome {
  if (!record.fingerprint.equals(request.fingerprint)) return keyReused();
  const answer = { status: record.status, body: record.body, requestId: record.request_id };
  return { kind: 'answered', answer, isReplay: true };
}

export function keyReused(): WriteOutcome {
  return { kind: 'refused', refusal: new ApiError('key_reused_with_different_body') };
}

const RECORD_COLUMNS = {
  key: 'text',
  fingerprint: 'bytea',
  status: 'integer',
  body: 'text',
  requestId: 'text',
  isTest: 'boolean',
} as const;

/**
 * Records answers of one integration with the writes themselves, and counts them and what the work has stored. An expired
 * record under the key gives way.
 */
export function recordAnswers(
  tx: Transaction,
  records: NewRecord[],
  { storedBytes, now }: { storedBytes: number; now: Date | null },
): void {
  if (records.length === 0) return;
  const integrationId = records[0]?.request.integrationId ?? '';
  const answerBytes = records.reduce((sum, { answer }) => sum + Buffer.byteLength(answer.body), 0);
  const workBytes = Math.max(
    storedBytes,
    records.reduce((sum, { request }) => sum + leastBytes(request), 0),
  );
  const bytes = answerBytes + workBytes;
  const rows = records.map(({ request: { key, fingerprint }, answer: { status, body, requestId }, isTest }) => ({
    key,
    fingerprint,
    status,
    body,
    requestId,
    isTest,
  }));
  tx.defer(sql`
    with counted as (${raiseCount(integrationId, bytes, now)})
    insert into idempotency_records (integration_id, created_at, key, fingerprint, status, body, request_id, is_test)
    select ${integrationId}, ${transactionTime(now)}, key, fingerprint, status, body, request_id, is_test
    from ${unnestRows('rows', rows, RECORD_COLUMNS)}
    on conflict (integration_id, key) do update set
      is_test = excluded.is_test, created_at = excluded.created_at, fingerprint = excluded.fingerprint,
      status = excluded.status, body = excluded.body, request_id = excluded.request_id`);
}

const PRUNE_BATCH_LIMIT = 1_000;

/** Deletes a batch of expired records; returns how many. */
export async function pruneRecords(db: Queryable, now: Date | null): Promise<number> {
  const rows = await db.query<{ key: string }>(sql`
    delete from idempotency_records where ctid in (
      select ctid from idempotency_records
      where created_at <= ${transactionTime(now)} - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS})
      limit ${PRUNE_BATCH_LIMIT})
    returning key`);
  return rows.length;
}
