import type { Actor } from '../../audit/actor.ts';
import type { Database } from '../../db/database.ts';
import { newId } from '../../ids/new-id.ts';
import { checkedTimeZone } from '../input-rules.ts';
import { createOrganization } from '../organizations.ts';
import { hashedPassword } from './password-hashing.ts';
import { insertUser } from './users.ts';

export type SignUpInput = {
  organizationName: string;
  name: string;
  email: string;
  password: string;
  currency: string;
  timeZone?: string | undefined;
  /** The address of the client. */
  address: string;
};

/** Makes a new dealer and its first owner in one transaction. In the audit log, the owner is the actor of both. */
export async function signUp(db: Database, input: SignUpInput): Promise<{ organizationId: string; userId: string }> {
  const { organizationName, name, email, currency } = input;
  const timeZone = knownTimeZone(input.timeZone);
  const passwordHash = await hashedPassword(input.address, input.password);
  const id = newId('user');
  const actor: Actor = { kind: 'person', userId: id, role: 'owner', address: input.address };
  return await db.transaction(async (tx) => {
    const { id: organizationId } = await createOrganization(tx, actor, {
      name: organizationName,
      hasPlan: true,
      currency,
      timeZone,
    });
    const user = await insertUser(tx, actor, { id, organizationId, name, email, role: 'owner' }, passwordHash);
    return { organizationId, userId: user.id };
  });
}

/** A browser may send a time zone that this machine does not know. That must not refuse a new dealer. */
function knownTimeZone(text = 'UTC'): string {
  try {
    return checkedTimeZone(text);
  } catch {
    return 'UTC';
  }
}
