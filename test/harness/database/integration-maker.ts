import type { Database } from '../../../src/db/database.ts';
import { createIntegration } from '../../../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../../../src/dealers/organizations.ts';
import { TESTER } from '../actor.ts';

/** Makes integrations of a new dealer, for tests that need nothing but their ids. */
export async function integrationMaker(db: Database): Promise<() => Promise<string>> {
  const { id: organizationId } = await createOrganization(db, TESTER, { name: 'Dealer', hasPlan: true });
  const settings = { organizationId, userId: null, name: 'Website', currency: 'USD', isTestMode: false };
  return async () => (await createIntegration(db, TESTER, settings)).id;
}
