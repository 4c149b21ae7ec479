import { randomBase62 } from '../contract/ids.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { EndpointError } from './endpoints.ts';
import type { SealedBox } from './sealed-box.ts';

const SECRET_LENGTH = 32;
export const GRACE_DEFAULT_HOURS = 24;
export const GRACE_MAX_HOURS = 7 * 24;

/** Makes a new signing secret and returns it. The old one signs along for the grace time, then no more. */
export async function rotateSecret(
  db: Database,
  box: SealedBox,
  integrationId: string,
  graceHours: number,
  now: Date | null,
): Promise<string> {
  if (!Number.isFinite(graceHours) || graceHours < 0 || graceHours > GRACE_MAX_HOURS) {
    throw new EndpointError(`the grace time must be from 0 to ${GRACE_MAX_HOURS} hours`);
  }
  const secret = `whsec_${randomBase62(SECRET_LENGTH)}`;
  await db.transaction(async (tx) => {
    // The endpoint's row orders two rotations at once: each sees the other's secret or is seen by it.
    const rows = await tx.query(sql`
      select integration_id from webhook_endpoints where integration_id = ${integrationId} for update`);
    if (rows.length === 0) throw new EndpointError('there is no such integration');
    await tx.query(sql`
      delete from webhook_secrets
      where integration_id = ${integrationId} and expires_at <= coalesce(${now}::timestamptz, clock_timestamp())`);
    await tx.query(sql`
      update webhook_secrets
      set expires_at = coalesce(${now}::timestamptz, clock_timestamp()) + make_interval(secs => ${graceHours * 3600})
      where integration_id = ${integrationId} and expires_at is null`);
    await tx.query(sql`
      insert into webhook_secrets (integration_id, ciphertext) values (${integrationId}, ${box.seal(secret)})`);
  });
  return secret;
}

/** The secret that signs now, made if there is none yet. */
export async function currentSecret(db: Database, box: SealedBox, integrationId: string): Promise<string> {
  const [row] = await db.query<{ ciphertext: string }>(sql`
    select ciphertext from webhook_secrets where integration_id = ${integrationId} and expires_at is null
    order by id desc limit 1`);
  return row === undefined ? await rotateSecret(db, box, integrationId, 0, null) : box.open(row.ciphertext);
}
