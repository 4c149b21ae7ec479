import { createHash } from 'node:crypto';
import { ApiError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_RETENTION_HOURS } from '../../../contract/limits.ts';
import type { Transaction } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

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
};

export type WriteAnswer = { status: number; body: string; requestId: string };
/** An answer to be recorded; what is about test data is deleted with it. */
export type NewAnswer = { request: WriteRequest; answer: WriteAnswer; isTest: boolean };
export type Settled = { answer: WriteAnswer; isReplay: boolean };
/** What became of an attempt: an answer, a fault, or nothing yet, because another node runs a request with that key. */
export type Outcome = Settled | ApiError | 'busy';

export function fingerprintOf(method: string, path: string, body: Buffer): Buffer {
  return createHash('sha256').update(`${method} ${path}\n`).update(body).digest();
}

/** Takes the keys that are free; answers which. It never waits: a connection that did would be missed by others. */
export async function tryLockKeys(tx: Transaction, requests: WriteRequest[]): Promise<boolean[]> {
  const rows = await tx.query<{ locked: boolean }>(sql`
    select pg_try_advisory_xact_lock(hashtextextended(name, 0)) as locked
    from unnest(${requests.map(lockName)}::text[]) with ordinality as rows (name, position) order by position`);
  return rows.map((row) => row.locked);
}

type RecordRow = { key: string; fingerprint: Buffer; status: number; body: string; request_id: string };

/** The recorded answers to some requests of one integration; a statement of its own, after the locks. */
export async function findRecords(
  tx: Transaction,
  requests: WriteRequest[],
  now: Date | null,
): Promise<Map<string, RecordRow>> {
  const rows = await tx.query<RecordRow>(sql`
    select key, fingerprint, status, body, request_id from idempotency_records
    where integration_id = ${requests[0]?.integrationId ?? ''}
      and key = any(${requests.map((request) => request.key)}::text[])
      and created_at > coalesce(${now}::timestamptz, now()) - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS})`);
  return new Map(rows.map((row) => [row.key, row]));
}

/** The recorded answer, if it is one to this request; another body under the same key is refused. */
export function replayOf(record: RecordRow, request: WriteRequest): Settled | ApiError {
  if (!record.fingerprint.equals(request.fingerprint)) return new ApiError('key_reused_with_different_body');
  return { answer: { status: record.status, body: record.body, requestId: record.request_id }, isReplay: true };
}

/** Records answers of one integration, all live or all test, with the write itself; an expired record under the key gives way. */
export async function recordAnswers(tx: Transaction, entries: NewAnswer[], now: Date | null): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(sql`
    insert into idempotency_records (integration_id, is_test, created_at, key, fingerprint, status, body, request_id)
    select ${entries[0]?.request.integrationId ?? ''}, ${entries[0]?.isTest ?? false},
      coalesce(${now}::timestamptz, now()), key, decode(fingerprint, 'hex'), status, body, request_id
    from unnest(
      ${entries.map(({ request }) => request.key)}::text[],
      ${entries.map(({ request }) => request.fingerprint.toString('hex'))}::text[],
      ${entries.map(({ answer }) => answer.status)}::integer[], ${entries.map(({ answer }) => answer.body)}::text[],
      ${entries.map(({ request }) => request.requestId)}::text[]) as rows (key, fingerprint, status, body, request_id)
    on conflict (integration_id, key) do update set
      is_test = excluded.is_test, created_at = excluded.created_at, fingerprint = excluded.fingerprint,
      status = excluded.status, body = excluded.body, request_id = excluded.request_id`);
}

function lockName(request: WriteRequest): string {
  return `idempotency ${request.integrationId} ${request.key}`;
}
