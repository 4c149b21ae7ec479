import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { SESSIONS_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { checkedName } from '../input-rules.ts';
import { hashedPassword } from './password-hashing.ts';

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

/** All other sessions end, so that nobody stays signed in with the old password. */
export async function changePassword(
  db: Database,
  actor: Actor,
  input: { organizationId: string; userId: string; keptSessionId: string; password: string },
): Promise<void> {
  const password = await hashedPassword(input.userId, input.password);
  await db.transaction(async (tx) => {
    await tx.query(sql`
      update accounts set password = ${password}, updated_at = now()
      where user_id = ${input.userId} and provider_id = 'credential'`);
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
