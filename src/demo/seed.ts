import type { ChannelContext } from '../channel/context.ts';
import { DEMO_LOCK } from '../db/advisory-locks.ts';
import type { Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { createIntegration } from '../dealers/integrations/integrations.ts';
import { createOrganization, listOrganizations } from '../dealers/organizations.ts';
import { hashedPassword } from '../dealers/users/password-hashing.ts';
import { insertUser } from '../dealers/users/users.ts';
import { randomBase62 } from '../ids/new-id.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { DEMO } from './demo-actor.ts';
import { DEMO_EMAIL, type DemoFile, LIVE_NAME, writeDemoFile } from './demo-file.ts';
import { planPhotos, writeDrawings } from './plan.ts';
import { ORGANIZATION_CURRENCY, STAGING_CURRENCY, stockDemo } from './stock.ts';

export type SeedOptions = { liveKey: string | null; dataDir: string | null; photoFiles: PhotoFiles };

/** The dealer's currency and its rates come with the stock, in the same transaction. */
const UNTIL_STOCKED = { isForced: true };

/**
 * Fills an empty database with one dealer and a full shop; null if another node was first. All or nothing, in one
 * transaction: a start that is killed in the middle leaves an empty database to the next.
 */
export async function seedDemo(context: ChannelContext, options: SeedOptions): Promise<DemoFile | null> {
  const photos = planPhotos();
  // Files that a kill or another node leaves without rows are swept like those of any upload.
  const written = writeDrawings(options.photoFiles, photos);
  // Its failure is met below, where it is waited for.
  written.catch(() => {});
  const password = `demo-${randomBase62(12)}`;
  const passwordHash = await hashedPassword('demo', password);
  return await context.db.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(${DEMO_LOCK})`);
    if ((await listOrganizations(tx, { limit: 1 })).length > 0) return null;
    const { made, organizationId } = await makeDealer(tx, options.liveKey, { password, passwordHash });
    const dealer = { organizationId, liveId: made.live.integration_id, testId: made.test.integration_id };
    await stockDemo(context, tx, dealer, photos);
    await written;
    // Before the commit: a kill between the two leaves a file that the next start overwrites, not data without it.
    if (options.dataDir !== null) writeDemoFile(options.dataDir, made);
    return made;
  });
}

async function makeDealer(
  tx: Transaction,
  liveKey: string | null,
  { password, passwordHash }: { password: string; passwordHash: string },
): Promise<{ made: DemoFile; organizationId: string }> {
  const { id: organizationId } = await createOrganization(tx, DEMO, {
    name: 'Aurum & Escapement',
    hasPlan: true,
    timeZone: 'Europe/Zurich',
  });
  const user = await insertUser(tx, DEMO, { organizationId, name: 'Dana Demo', email: DEMO_EMAIL }, passwordHash);
  const owner = { organizationId, userId: user.id };
  const live = await createIntegration(tx, DEMO, {
    ...owner,
    name: LIVE_NAME,
    currency: ORGANIZATION_CURRENCY,
    isTestMode: false,
    ...UNTIL_STOCKED,
    ...(liveKey === null ? {} : { apiKey: liveKey }),
  });
  const test = await createIntegration(tx, DEMO, {
    ...owner,
    name: 'Staging website',
    currency: STAGING_CURRENCY,
    isTestMode: true,
    ...UNTIL_STOCKED,
  });
  const made: DemoFile = {
    email: DEMO_EMAIL,
    password,
    password_hash: passwordHash,
    live: { integration_id: live.id, api_key: live.apiKey },
    test: { integration_id: test.id, api_key: test.apiKey },
  };
  return { made, organizationId };
}
