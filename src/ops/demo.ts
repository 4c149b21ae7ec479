import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { randomBase62 } from '../dealers/api-keys.ts';
import { createIntegration } from '../dealers/integrations.ts';
import { createOrganization } from '../dealers/organizations.ts';
import { createUser } from '../dealers/users.ts';

export type Demo = {
  email: string;
  password: string;
  liveKey: string;
  testKey: string;
};

/** Fills an empty database with one dealer to try things on; null if there is any dealer already. */
export async function seedDemo(db: Database, liveKey: string | null): Promise<Demo | null> {
  const existing = await db.query(sql`select id from organizations limit 1`);
  if (existing.length > 0) return null;
  const organization = await createOrganization(db, { name: 'Aurum & Escapement', hasPlan: true });
  const email = 'demo@crownwheel.example';
  const password = `demo-${randomBase62(12)}`;
  const user = await createUser(db, { organizationId: organization.id, name: 'Dana Demo', email, password });
  const owner = { organizationId: organization.id, userId: user.id, currency: 'USD' };
  const live = await createIntegration(db, {
    ...owner,
    name: 'Main website',
    isTestMode: false,
    ...(liveKey === null ? {} : { apiKey: liveKey }),
  });
  const test = await createIntegration(db, { ...owner, name: 'Staging website', isTestMode: true });
  return { email, password, liveKey: live.apiKey, testKey: test.apiKey };
}
