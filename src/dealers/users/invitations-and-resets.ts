import { createHash } from 'node:crypto';
import type { Actor, TeamRole } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { OPEN_INVITATIONS_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import { type Database, inTransaction, type Queryable, type Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId, randomBase62 } from '../../ids/new-id.ts';
import { checkedEmail } from '../input-rules.ts';
import { assertBelowLimit } from '../row-limit.ts';
import { hashedPassword } from './password-hashing.ts';
import { assertStillOwner, endResetLinks, insertUser } from './users.ts';

/**
 * One-time links: an invitation to a dealer's team, or the way to a new password. People pass the links on. A link ends when its
 * maker is removed, or no owner any more.
 */
const TOKEN_LENGTH = 43;
const INVITATION_DAYS = 7;
const RESET_HOURS = 24;

/** The token is shown once; the database keeps a hash of it. */
export type NewLink = { id: string; token: string; expiresAt: Date };

export type FoundLink = {
  kind: 'invitation' | 'reset';
  organizationId: string;
  organizationName: string;
  userId: string | null;
  email: string;
  role: TeamRole | null;
  expiresAt: Date;
};

/** It replaces an open invitation to the same address. */
export async function inviteMember(
  db: Database | Transaction,
  actor: Actor,
  input: { organizationId: string; email: string; role: TeamRole },
): Promise<NewLink> {
  const email = checkedEmail(input.email);
  return await inTransaction(db, async (tx) => {
    await lockPeople(tx, actor, input.organizationId);
    const taken = await tx.query(sql`select id from users where email = ${email}`);
    if (taken.length > 0) {
      throw new DomainError('email_taken', `There is a user with the email ${email} already.`, 'email');
    }
    await tx.query(sql`
      delete from sign_in_links
      where organization_id = ${input.organizationId} and kind = 'invitation' and email = ${email}`);
    await removeExpiredLinks(tx, input.organizationId);
    await assertBelowLimit(tx, {
      name: `invitations ${input.organizationId}`,
      rows: sql`select from sign_in_links
        where organization_id = ${input.organizationId} and kind = 'invitation' and expires_at > now()`,
      limit: OPEN_INVITATIONS_LIMIT,
      message: `${OPEN_INVITATIONS_LIMIT} invitations are open. Withdraw one before you invite somebody else.`,
    });
    const hours = INVITATION_DAYS * 24;
    const link = await insertLink(tx, actor, { ...input, email, kind: 'invitation', userId: null, hours });
    await recordAudit(tx, actor, {
      organizationId: input.organizationId,
      action: 'user.invited',
      object: { kind: 'user', id: link.id },
      new: { role: input.role },
      personal: ['email'],
    });
    return link;
  });
}

/** It replaces an older reset link of the same user. */
export async function makeResetLink(
  db: Database | Transaction,
  actor: Actor,
  input: { organizationId: string; userId: string },
): Promise<NewLink> {
  return await inTransaction(db, async (tx) => {
    const people = await lockPeople(tx, actor, input.organizationId, input.userId);
    const user = people.find(({ id }) => id === input.userId);
    if (user === undefined) throw new DomainError('not_found', 'There is no such member of the team.');
    await endResetLinks(tx, input.userId);
    await removeExpiredLinks(tx, input.organizationId);
    await recordAudit(tx, actor, {
      organizationId: input.organizationId,
      action: 'user.reset_link_made',
      object: { kind: 'user', id: input.userId },
    });
    return await insertLink(tx, actor, { ...input, email: user.email, role: null, kind: 'reset', hours: RESET_HOURS });
  });
}

export async function withdrawInvitation(
  db: Database,
  actor: Actor,
  organizationId: string,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const rows = await tx.query(sql`
      delete from sign_in_links
      where id = ${id} and organization_id = ${organizationId} and kind = 'invitation' returning id`);
    if (rows.length === 0) throw new DomainError('not_found', 'There is no such open invitation.');
    await recordAudit(tx, actor, {
      organizationId,
      action: 'user.invitation_withdrawn',
      object: { kind: 'user', id },
    });
  });
}

export type OpenInvitation = { id: string; email: string; role: TeamRole; expiresAt: Date };

export async function listInvitations(db: Queryable, organizationId: string): Promise<OpenInvitation[]> {
  return await db.query<OpenInvitation>(sql`
    select id, email, role, expires_at as "expiresAt" from sign_in_links
    where organization_id = ${organizationId} and kind = 'invitation' and expires_at > now() order by id limit ${OPEN_INVITATIONS_LIMIT}`);
}

export async function findLink(db: Queryable, token: string): Promise<FoundLink> {
  const [link] = await db.query<FoundLink>(sql`
    select l.kind, l.organization_id as "organizationId", o.name as "organizationName", l.user_id as "userId", l.email,
      l.role, l.expires_at as "expiresAt"
    from sign_in_links l join organizations o on o.id = l.organization_id and o.archived_at is null
    where l.token_hash = ${tokenHash(token)} and l.expires_at > now()`);
  if (link === undefined) throw useless();
  return link;
}

/** Makes the invited user; the link is spent in the same transaction, so two clicks make one user. */
export async function acceptInvitation(
  db: Database,
  input: { token: string; name: string; password: string; address: string },
): Promise<{ email: string }> {
  const passwordHash = await hashForLink(db, input);
  return await db.transaction(async (tx) => {
    const link = await spendLink(tx, input.token, 'invitation');
    const { organizationId, email } = link;
    const role = link.role ?? 'staff';
    const id = newId('user');
    const actor: Actor = { kind: 'person', userId: id, role, address: input.address };
    await insertUser(tx, actor, { id, organizationId, email, name: input.name, role }, passwordHash);
    return { email };
  });
}

/** Sets the password and ends all sessions, so that nobody stays signed in with the old one. */
export async function resetPassword(
  db: Database,
  input: { token: string; password: string; address: string },
): Promise<{ email: string }> {
  const password = await hashForLink(db, input);
  return await db.transaction(async (tx) => {
    const link = await spendLink(tx, input.token, 'reset');
    const { email, organizationId } = link;
    const userId = link.userId ?? '';
    await tx.query(sql`
      update accounts set password = ${password}, updated_at = now()
      where user_id = ${userId} and provider_id = 'credential'`);
    await tx.query(sql`delete from sessions where user_id = ${userId}`);
    const [user] = await tx.query<{ role: TeamRole }>(sql`select role from users where id = ${userId}`);
    const actor: Actor = { kind: 'person', userId, role: user?.role ?? 'staff', address: input.address };
    await recordAudit(tx, actor, {
      organizationId,
      action: 'user.password_changed',
      object: { kind: 'user', id: userId },
    });
    return { email };
  });
}

/**
 * The service hashes no password for somebody without a link. Whether the link is still valid is decided when it is
 * used.
 */
async function hashForLink(
  db: Database,
  { token, password, address }: { token: string; password: string; address: string },
): Promise<string> {
  await findLink(db, token);
  return await hashedPassword(address, password);
}

/**
 * Locks who makes a link, and whose password it is for, in the order in which changes of the team do. Throws if the maker is no
 * owner any more: a demotion ends the links that it finds, so one that is under way is waited for.
 */
async function lockPeople(
  tx: Transaction,
  actor: Actor,
  organizationId: string,
  userId?: string,
): Promise<{ id: string; email: string }[]> {
  const makerId = makerOf(actor);
  const people = await tx.query<{ id: string; email: string; role: TeamRole }>(sql`
    select id, email, role from users
    where id = any(${[makerId, userId ?? null]}::text[]) and organization_id = ${organizationId} order by id for update`);
  assertStillOwner(actor, people);
  return people;
}

/** The person whose link it is; null for one that an operator makes. */
function makerOf(actor: Actor): string | null {
  return actor.kind === 'person' ? actor.userId : null;
}

async function removeExpiredLinks(tx: Transaction, organizationId: string): Promise<void> {
  await tx.query(sql`delete from sign_in_links where organization_id = ${organizationId} and expires_at <= now()`);
}

async function insertLink(
  tx: Transaction,
  actor: Actor,
  link: {
    kind: FoundLink['kind'];
    organizationId: string;
    userId: string | null;
    email: string;
    role: TeamRole | null;
    hours: number;
  },
): Promise<NewLink> {
  const id = newId('signInLink');
  const token = randomBase62(TOKEN_LENGTH);
  const [row] = await tx.query<{ expiresAt: Date }>(sql`
    insert into sign_in_links (id, kind, token_hash, organization_id, user_id, email, role, made_by, expires_at)
    values (${id}, ${link.kind}, ${tokenHash(token)}, ${link.organizationId}, ${link.userId}, ${link.email},
      ${link.role}, ${makerOf(actor)}, now() + make_interval(hours => ${link.hours}::integer))
    returning expires_at as "expiresAt"`);
  if (row === undefined) throw new Error('the link was not stored');
  return { id, token, expiresAt: row.expiresAt };
}

async function spendLink(
  tx: Transaction,
  token: string,
  kind: FoundLink['kind'],
): Promise<{ organizationId: string; userId: string | null; email: string; role: TeamRole | null }> {
  const [link] = await tx.query<{
    organizationId: string;
    userId: string | null;
    email: string;
    role: TeamRole | null;
  }>(sql`
    delete from sign_in_links where token_hash = ${tokenHash(token)} and kind = ${kind} and expires_at > now()
    returning organization_id as "organizationId", user_id as "userId", email, role`);
  if (link === undefined) throw useless();
  return link;
}

function useless(): DomainError {
  return new DomainError(
    'not_found',
    'This link can’t be used: it was used before, has expired or was withdrawn. Ask for a new one.',
    'token',
  );
}

function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The token is in the fragment of the URL, which browsers never send, so it is in no log of a server or proxy. */
export function linkUrl(publicUrl: string, kind: FoundLink['kind'], token: string): string {
  return `${publicUrl}/${kind}#${token}`;
}
