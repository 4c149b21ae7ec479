import type { Actor } from '../../audit/actor.ts';
import type { Database } from '../../db/database.ts';
import { checkedTimeZone } from '../input-rules.ts';
import { createOrganization } from '../organizations.ts';
import { createUser } from './users.ts';

/** There is no person yet who could be named. */
const SIGN_UP: Actor = { kind: 'job', name: 'sign-up' };

/** A new dealer with its first owner, both or neither. */
export async function signUp(
  db: Database,
  input: { organizationName: string; name: string; email: string; password: string; timeZone?: string | undefined },
): Promise<{ organizationId: string; userId: string }> {
  const { organizationName, name, email, password } = input;
  const timeZone = knownTimeZone(input.timeZone);
  return await db.transaction(async (tx) => {
    const { id: organizationId } = await createOrganization(tx, SIGN_UP, {
      name: organizationName,
      hasPlan: true,
      timeZone,
    });
    const user = await createUser(tx, SIGN_UP, { organizationId, name, email, password, role: 'owner' });
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
