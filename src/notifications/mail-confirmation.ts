import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { MAIL_CODE_LENGTH } from '../contract/dashboard/limits.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { newId } from '../ids/new-id.ts';
import { dealersAtLimit, takeCodeMail } from './mail-limits.ts';

/**
 * An address gets mail only after its person has entered a code that was mailed there: anybody can sign up, or be invited, with
 * the address of a stranger. The code is computed from person, address and secret key, so it is stored nowhere, and another
 * address has another code.
 */
type Person = { organizationId: string; userId: string };

export function confirmationCode(secretKey: string, { userId, email }: { userId: string; email: string }): string {
  const digest = createHmac('sha256', secretKey).update(`mail confirmation\n${userId}\n${email}`).digest('hex');
  return digest.slice(0, MAIL_CODE_LENGTH);
}

export async function isMailConfirmed(db: Queryable, { userId }: Person): Promise<boolean> {
  const rows = await db.query(sql`select id from users where id = ${userId} and mail_confirmed_at is not null`);
  return rows.length > 0;
}

/** Mails the code, unless the address is confirmed or was mailed one lately, or its dealer had as many mails as a day allows. */
export async function queueConfirmation(
  tx: Transaction,
  { organizationId, userId }: Person,
  now: Date | null,
): Promise<void> {
  const [user] = await tx.query<{ email: string }>(sql`
    select email from users where id = ${userId} and mail_confirmed_at is null`);
  if (user === undefined) return;
  if ((await dealersAtLimit(tx, [organizationId], now)).has(organizationId)) return;
  if (!(await takeCodeMail(tx, user.email, now))) return;
  await tx.query(sql`
    insert into mails (id, organization_id, user_id, counts, is_confirmation, due_at, created_at)
    values (${newId('mail')}, ${organizationId}, ${userId}, '{}', true, ${clockTime(now)}, ${clockTime(now)})`);
}

/** Accepts the code of any of the secret keys, so that one that was mailed before a rotation counts. */
export async function confirmMail(
  db: Database,
  actor: Actor,
  { organizationId, userId, email }: Person & { email: string },
  code: string,
  { secretKeys, now }: { secretKeys: readonly string[]; now: Date | null },
): Promise<void> {
  const given = code.trim().toLowerCase();
  if (!secretKeys.some((key) => isSame(confirmationCode(key, { userId, email }), given))) {
    throw new DomainError('invalid_input', `This is not the code that was mailed to ${email}.`, 'code');
  }
  await db.transaction(async (tx) => {
    const changed = await tx.query(sql`
      update users set mail_confirmed_at = ${clockTime(now)} where id = ${userId} and mail_confirmed_at is null
      returning id`);
    if (changed.length === 0) return;
    await recordAudit(tx, actor, {
      organizationId,
      action: 'user.account_changed',
      object: { kind: 'user', id: userId },
      old: { isMailConfirmed: false },
      new: { isMailConfirmed: true },
      at: now,
    });
  });
}

function isSame(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
