import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { SESSIONS_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { checkedName } from '../input-rules.ts';
import { hashedPassword } from './password-hashing.ts';
import { endResetLinks } from './users.ts';

/** What a person does with their own account. */
export async function updateAccount(
  db: Database,
  actor: Actor,
  key: { organizationId: string; userId: string },
  change: { name?: string | undefined; showTestData?: boolean | undefined },
): Promise<void> {
  const name = change.name === undefined ? null : checkedName(change.name);
  await db.transaction(async (tx) => {
    await tx.query(sql`
      update users set name = coalesce(${name}::text, name),
        show_test_data = coalesce(${change.showTestData ?? null}::boolean, show_test_data), updated_at = now()
      where id = ${key.userId}`);
    if (name === null) return;
    await recordAudit(tx, actor, {
      organizationId: key.organizationId,
      action: 'user.account_changed',
      object: { kind: 'user', id: key.userId },
      personal: ['name'],
    });
  });
}

/**
 * All other sessions end, so that nobody stays signed in with the old password, and so do open reset links: nobody changes the
 * new one with a link from before. A session that a reset or another change has ended meanwhile changes nothing: the password
 * that it had verified was the old one.
 */
export async function changePassword(
  db: Database,
  actor: Actor,
  input: { organizationId: string; userId: string; keptSessionId: string; password: string },
): Promise<void> {
  const password = await hashedPassword(input.userId, input.password);
  await db.transaction(async (tx) => {
    // First, as a reset does, whose link is spent before its password is set.
    await endResetLinks(tx, input.userId);
    await tx.query(sql`
      update accounts set password = ${password}, updated_at = now()
      where user_id = ${input.userId} and provider_id = 'credential'`);
    // Only now, as whoever changes the password has waited for those who did before.
    const kept = await tx.query(sql`
      select id from sessions where id = ${input.keptSessionId} and user_id = ${input.userId}`);
    if (kept.length === 0) {
      const message = 'Your password was changed meanwhile, and this session has ended. Sign in again.';
      throw new DomainError('invalid_input', message, 'current_password');
    }
    await endOtherSessions(tx, input.userId, input.keptSessionId);
    await recordAudit(tx, actor, {
      organizationId: input.organizationId,
      action: 'user.password_changed',
      object: { kind: 'user', id: input.userId },
    });
  });
}

export type SessionRow = {
  id: string;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
};

export async function listSessions(db: Queryable, userId: string): Promise<SessionRow[]> {
  return await db.query<SessionRow>(sql`
    select id, nullif(ip_address, '') as "ipAddress", user_agent as "userAgent", created_at as "createdAt",
      updated_at as "lastSeenAt"
    from sessions where user_id = ${userId} and expires_at > now()
    order by updated_at desc, id limit ${SESSIONS_LIMIT}`);
}

/**
 * Ends the session of a sign-in, which is stored already, unless the password is still the one that was verified; returns whether
 * it is. Whoever changes a password ends the sessions that are stored by then. A change that has not committed is waited for, and
 * one that comes later finds this session.
 */
export async function keepVerifiedSession(
  db: Database,
  session: { token: string; userId: string },
  verifiedHash: string | null,
): Promise<boolean> {
  const [account] = await db.query<{ password: string | null }>(sql`
    select password from accounts where user_id = ${session.userId} and provider_id = 'credential' for share`);
  if (account !== undefined && account.password === verifiedHash) return true;
  await db.query(sql`delete from sessions where token = ${session.token}`);
  return false;
}

/** After a sign-in, ends the sessions beyond the limit, the least recently used ones first. */
export async function endOldestSessions(db: Queryable, userId: string): Promise<void> {
  await db.query(sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by updated_at desc, id desc offset ${SESSIONS_LIMIT})`);
}

export async function endSession(db: Queryable, userId: string, sessionId: string): Promise<void> {
  const rows = await db.query(sql`
    delete from sessions where id = ${sessionId} and user_id = ${userId} returning id`);
  if (rows.length === 0) throw new DomainError('not_found', 'That session has ended already.');
}

export async function endOtherSessions(db: Queryable, userId: string, keptSessionId: string): Promise<void> {
  await db.query(sql`delete from sessions where user_id = ${userId} and id <> ${keptSessionId}`);
}
