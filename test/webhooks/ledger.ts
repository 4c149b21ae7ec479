import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { ABANDONED_ERROR } from '../../src/webhooks/sending/sign-and-send.ts';
import type { Received } from '../harness/servers/receiver.ts';
import type { Worker } from './worker-process.ts';

const WAIT_LIMIT_MS = 120_000;

/** Waits until every delivery has succeeded: nothing is stranded. */
export async function allDelivered(db: Database): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const rows = await db
      .query<{ status: string; count: number }>(sql`
        select status, count(*) as count from deliveries where status <> 'succeeded' or lease_token is not null group by status`)
      .catch(() => [{ status: 'unknown', count: 0 }]);
    if (rows.length === 0) return;
    if (Date.now() > deadline) assert.fail(`stranded: ${JSON.stringify(rows)}`);
    await sleep(50);
  }
}

/** Every event has come at least once, and never more often than it was claimed. Returns how many were duplicates. */
export async function assertEachCame(db: Database, received: Received[]): Promise<number> {
  const rows = await db.query<{ event_id: string; dispatches: number }>(sql`
    select event_id, dispatches from deliveries`);
  const receipts = countReceipts(received);
  for (const { event_id, dispatches } of rows) {
    const count = receipts.get(event_id) ?? 0;
    assert.ok(count >= 1, `${event_id} never came`);
    assert.ok(count <= dispatches, `${event_id} came ${count} times and was claimed ${dispatches} times`);
  }
  assert.equal(receipts.size, rows.length, 'something came that nobody queued');
  return received.length - rows.length;
}

/**
 * The same, and each claim of a delivery but the last was made by a worker that was killed, so every duplicate is explained by a
 * kill. Workers that live may follow each other only where too many had died with the delivery: the first of them counts that as
 * a failed attempt without sending it, and whoever claims the retry sends it.
 */
export async function assertExplained(db: Database, received: Received[], workers: Worker[]): Promise<number> {
  const duplicates = await assertEachCame(db, received);
  const receipts = countReceipts(received);
  const rows = await db.query<{ id: string; event_id: string; unsent: number }>(sql`
    select d.id, d.event_id, count(a.delivery_id) as unsent
    from deliveries d left join delivery_attempts a
      on a.integration_id = d.integration_id and a.delivery_id = d.id and a.error = ${ABANDONED_ERROR}
    group by d.id, d.event_id`);
  for (const { id, event_id, unsent } of rows) {
    const claimants = workers.filter((worker) => worker.claimed.includes(id));
    const survivors = claimants.filter((worker) => !worker.isKilled());
    assert.ok(survivors.length <= 1 + unsent, `${id} was claimed by two workers that lived`);
    if ((receipts.get(event_id) ?? 0) > 1) assert.ok(claimants.length > survivors.length, `nobody died with ${id}`);
  }
  return duplicates;
}

function countReceipts(received: Received[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { eventId } of received) counts.set(eventId, (counts.get(eventId) ?? 0) + 1);
  return counts;
}
