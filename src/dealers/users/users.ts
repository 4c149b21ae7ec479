import { randomUUID } from 'node:crypto';
import type { Actor, TeamRole } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { TEAM_MEMBERS_LIMIT } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import {
  type Database,
  inTransaction,
  type Queryable,
  sqlState,
  type Transaction,
  UNIQUE_VIOLATION,
} from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../ids/new-id.ts';
import { checkedEmail, checkedName } from '../input-rules.ts';
import { assertOrganization } from '../organizations.ts';
import { assertBelowLimit } from '../row-limit.ts';
import { hashedPassword } from './password-hashing.ts';

export type NewUser = {
  /** Set if the user is also the actor and the id must be known before, such as at a sign-up. */
  id?: string;
  organizationId: string;
  name: string;
  email: string;
  password: string;
  /** The default is owner. */
  role?: TeamRole;
};

export type MadeUser = { id: string; name: string; email: string };

/**
 * Refuses a person who is no owner of the team any more. `people` are locked: a change of the team that is under way was waited
 * for, and the next one waits.
 */
export function assertStillOwner(actor: Actor, people: { id: string; role: TeamRole }[]): void {
  if (actor.kind !== 'person' || people.some(({ id, role }) => id === actor.userId && role === 'owner')) return;
  throw new DomainError('not_allowed', 'Only owners can do this, and you are none any more.');
}

/** Makes a user with a password, in the rows that the sign-in library reads. The password is hashed before the transaction. */
export async function createUser(db: Database, actor: Actor, input: NewUser): Promise<MadeUser> {
  return await insertUser(db, actor, input, await hashedPassword(actor.kind, input.password));
}

/** The same with a hashed password, for callers that make more in the same transaction. */
export async function insertUser(
  db: Database | Transaction,
  actor: Actor,
  input: Omit<NewUser, 'password'>,
  passwordHash: string,
): Promise<MadeUser> {
  const id = input.id ?? newId('user');
  const name = checkedName(input.name);
  const email = checkedEmail(input.email);
  await inTransaction(db, async (tx) => {
    await assertOrganization(tx, input.organizationId);
    await assertBelowLimit(tx, {
      name: `team ${input.organizationId}`,
      rows: sql`select from users where organization_id = ${input.organizationId}`,
      limit: TEAM_MEMBERS_LIMIT,
      message: `A team has at most ${TEAM_MEMBERS_LIMIT} people. Remove somebody first.`,
    });
    await tx
      .query(sql`
        insert into users (id, organization_id, name, email, email_verified, role)
        values (${id}, ${input.organizationId}, ${name}, ${email}, true, ${input.role ?? 'owner'})`)
      .catch((error: unknown) => refuseTaken(error, email));
    await tx.query(sql`
      insert into accounts (id, user_id, account_id, provider_id, password)
      values (${randomUUID()}, ${id}, ${id}, 'credential', ${passwordHash})`);
    await recordAudit(tx, actor, {
      organizationId: input.organizationId,
      action: 'user.created',
      object: { kind: 'user', id },
      personal: ['name', 'email'],
    });
  });
  return { id, name, email };
}

/**
 * Gives a user another address to sign in with, for operators. It gets mail only after the person has confirmed it, as the
 * address of a new user does; the caller withdraws the mails that wait. Open reset links end: they may lie in the old mailbox.
 */
export async function changeEmail(
  tx: Transaction,
  actor: Actor,
  key: { organizationId: string; userId: string },
  newEmail: string,
): Promise<string> {
  const email = checkedEmail(newEmail);
  const rows = await tx
    .query(sql`
      update users set email = ${email}, mail_confirmed_at = null, updated_at = now()
      where id = ${key.userId} and organization_id = ${key.organizationId} and email <> ${email} returning id`)
    .catch((error: unknown) => refuseTaken(error, email));
  if (rows.length === 0) throw new DomainError('invalid_input', `The user has the email ${email} already.`, 'email');
  await endResetLinks(tx, key.userId);
  await recordAudit(tx, actor, {
    organizationId: key.organizationId,
    action: 'user.account_changed',
    object: { kind: 'user', id: key.userId },
    personal: ['email'],
  });
  return email;
}

/** From now on none of the links that were made for a user sets a password. */
export async function endResetLinks(tx: Transaction, userId: string): Promise<void> {
  await tx.query(sql`delete from sign_in_links where user_id = ${userId} and kind = 'reset'`);
}

/** From now on none of the links that a user has made invites anybody or sets a password. */
export async function endLinksMadeBy(tx: Transaction, userId: string): Promise<void> {
  await tx.query(sql`delete from sign_in_links where made_by = ${userId}`);
}

function refuseTaken(error: unknown, email: string): never {
  if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
  throw new DomainError('email_taken', `There is a user with the email ${email} already.`, 'email');
}

/** The user with an email, for operators, with the organization of the user. */
export async function findUserByEmail(
  db: Queryable,
  email: string,
): Promise<{ organizationId: string; userId: string }> {
  const [user] = await db.query<{ organizationId: string; userId: string }>(sql`
    select organization_id as "organizationId", id as "userId" from users
    where email = ${checkedEmail(email)} and organization_id is not null`);
  if (user === undefined) throw new DomainError('not_found', `There is no user with the email ${email}.`, 'email');
  return user;
}
