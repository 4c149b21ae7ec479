import type { Queryable } from '../../db/database.ts';
import { staffSeesCost } from '../../dealers/organization-settings.ts';
import type { SignedIn } from './call.ts';

/** Whether a person may see cost prices: owners may, staff if an owner has opened them to staff. */
export async function seesCost(db: Queryable, user: SignedIn): Promise<boolean> {
  return user.role === 'owner' || (await staffSeesCost(db, user.organizationId));
}
