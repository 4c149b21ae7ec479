import type { Database } from '../db/database.ts';
import { createOrganization } from './organizations.ts';
import { createUser } from './users.ts';

/** A new dealer with its first owner, both or neither. */
export async function signUp(
  db: Database,
  input: { organizationName: string; name: string; email: string; password: string },
): Promise<{ organizationId: string; userId: string }> {
  const { organizationName, name, email, password } = input;
  return await db.transaction(async (tx) => {
    const { id: organizationId } = await createOrganization(tx, { name: organizationName, hasPlan: true });
    const user = await createUser(tx, { organizationId, name, email, password, role: 'owner' });
    return { organizationId, userId: user.id };
  });
}
