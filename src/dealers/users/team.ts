import type { Actor, TeamRole } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ListPage } from '../organizations.ts';
import { removePrivateViews } from '../saved-views.ts';
import { assertStillOwner, endLinksMadeBy } from './users.ts';

/** The people of one dealer. There is always an owner: the last one can be neither removed nor made staff. */
export type Member = {
  id: string;
  name: string;
  email: string;
  role: TeamRole;
  createdAt: Date;
  lastSeenAt: Date | null;
};

const MEMBERS_LIMIT = 1_000;

const MEMBER = sql`u.id, u.name, u.email, u.role, u.created_at as "createdAt",
  (select max(s.updated_at) from sessions s where s.user_id = u.id) as "lastSeenAt"`;

export async function listMembers(db: Queryable, organizationId: string): Promise<Member[]> {
  return await db.query<Member>(sql`
    select ${MEMBER} from users u where u.organization_id = ${organizationId}
    order by u.name, u.id limit ${MEMBERS_LIMIT}`);
}

/** The same page by page, in the order of their ids, for operators. */
export async function listMembersPage(db: Queryable, organizationId: string, page: ListPage): Promise<Member[]> {
  return await db.query<Member>(sql`
    select ${MEMBER} from users u where u.organization_id = ${organizationId} and u.id > ${page.after ?? ''}
    order by u.id limit ${page.limit}`);
}

export type MemberKey = { organizationId: string; userId: string };

export async function changeRole(
  db: Database | Transaction,
  actor: Actor,
  key: MemberKey,
  role: TeamRole,
): Promise<Member> {
  await inTransaction(db, async (tx) => {
    const { isLastOwner, role: oldRole } = await lockMember(tx, actor, key);
    if (role !== 'owner' && isLastOwner) throw lastOwner();
    await tx.query(sql`update users set role = ${role}, updated_at = now() where id = ${key.userId}`);
    if (role !== 'owner') await endLinksMadeBy(tx, key.userId);
    await recordAudit(tx, actor, {
      organizationId: key.organizationId,
      action: 'user.role_changed',
      object: { kind: 'user', id: key.userId },
      old: { role: oldRole },
      new: { role },
    });
  });
  const member = (await listMembers(db, key.organizationId)).find(({ id }) => id === key.userId);
  if (member === undefined) throw unknown();
  return member;
}

/** Sessions, password and the links that the person made go with the user; all else that they made stays. */
export async function removeMember(db: Database | Transaction, actor: Actor, key: MemberKey): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { isLastOwner, role } = await lockMember(tx, actor, key);
    if (isLastOwner) throw lastOwner();
    await removePrivateViews(tx, key.userId);
    await tx.query(sql`delete from users where id = ${key.userId}`);
    await recordAudit(tx, actor, {
      organizationId: key.organizationId,
      action: 'user.removed',
      object: { kind: 'user', id: key.userId },
      old: { role },
      personal: ['name', 'email'],
    });
  });
}

/** All members of the team are locked, so that two owners who demote each other do so one after the other. */
async function lockMember(
  tx: Transaction,
  actor: Actor,
  key: MemberKey,
): Promise<{ isLastOwner: boolean; role: TeamRole }> {
  await tx.query(sql`select id from users where organization_id = ${key.organizationId} order by id for update`);
  const members = await tx.query<{ id: string; role: TeamRole }>(sql`
    select id, role from users where organization_id = ${key.organizationId}`);
  assertStillOwner(actor, members);
  const member = members.find(({ id }) => id === key.userId);
  if (member === undefined) throw unknown();
  const owners = members.filter(({ role }) => role === 'owner');
  return { isLastOwner: owners.length === 1 && member.role === 'owner', role: member.role };
}

function unknown(): DomainError {
  return new DomainError('not_found', 'There is no such member of the team.');
}

function lastOwner(): DomainError {
  return new DomainError('last_owner', 'This is the last owner. Make somebody else an owner first.');
}
