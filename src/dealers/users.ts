import { randomUUID } from 'node:crypto';
import { hashPassword } from 'better-auth/crypto';
import { newId } from '../contract/ids.ts';
import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';

export type NewUser = { organizationId: string; name: string; email: string; password: string };

/** Makes a user with a password, in the rows that the sign-in library reads. */
export async function createUser(db: Database, input: NewUser): Promise<{ id: string; email: string }> {
  const id = newId('user');
  const email = input.email.toLowerCase();
  const password = await hashPassword(input.password);
  await db.transaction(async (tx) => {
    await tx.query(sql`
      insert into users (id, organization_id, name, email, email_verified)
      values (${id}, ${input.organizationId}, ${input.name}, ${email}, true)`);
    await tx.query(sql`
      insert into accounts (id, user_id, account_id, provider_id, password)
      values (${randomUUID()}, ${id}, ${id}, 'credential', ${password})`);
  });
  return { id, email };
}
