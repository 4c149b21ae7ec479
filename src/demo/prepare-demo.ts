import type { ChannelContext } from '../channel/context.ts';
import { DomainError } from '../contract/domain-error.ts';
import type { Database, Queryable } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { StartError } from '../db/start-error.ts';
import { hashApiKey } from '../dealers/integrations/api-keys.ts';
import { setApiKey } from '../dealers/integrations/rotate-api-key.ts';
import { listOrganizations } from '../dealers/organizations.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { DEMO } from './demo-actor.ts';
import { DEMO_EMAIL, type DemoFile, LIVE_NAME, readDemoFile, writeDemoFile } from './demo-file.ts';

/** One dealer to try things on, as far as what we know of it still holds: null where a key was changed since. */
export type Demo = {
  email: string;
  password: string | null;
  liveKey: string | null;
  testKey: string | null;
  /** Made by this start. */
  isNew: boolean;
};

export type DemoOptions = {
  /** The key of the live integration; null creates one. */
  liveKey: string | null;
  /** Where to keep what was made; null keeps nothing, and it is shown once only. */
  dataDir: string | null;
  /** Where the photos of the stock go. */
  photoFiles: PhotoFiles;
  onNotice: (message: string) => void;
};

/** Fills an empty database with demo data, or finds what an earlier start made; null if there is none. */
export async function prepareDemo(context: ChannelContext, options: DemoOptions): Promise<Demo | null> {
  try {
    return (await seed(context, options)) ?? (await revisit(context.db, options));
  } catch (error) {
    if (error instanceof DomainError && error.code === 'key_taken')
      throw new StartError(`DEMO_API_KEY cannot be used: ${error.message}`);
    throw error;
  }
}

async function seed(context: ChannelContext, options: DemoOptions): Promise<Demo | null> {
  if ((await listOrganizations(context.db, { limit: 1 })).length > 0) return null;
  options.onNotice('Stocking the demo shop …');
  // Loaded only when there is a shop to fill: it is a good part of all the code there is.
  const { seedDemo } = await import('./seed.ts');
  const made = await seedDemo(context, options);
  if (made === null) return null;
  const { email, password, live, test } = made;
  return { email, password, liveKey: live.api_key, testKey: test.api_key, isNew: true };
}

/** Shows only credentials that still work: an operator may have changed or deleted anything since. */
async function revisit(db: Database, options: DemoOptions): Promise<Demo | null> {
  const file = options.dataDir === null ? null : readDemoFile(options.dataDir);
  const liveId = await findLiveIntegration(db, file);
  if (options.liveKey !== null) await giveLiveKey(db, liveId, options.liveKey, options);
  const liveKey = options.liveKey ?? file?.live.api_key ?? null;
  const [isLiveGood, isTestGood, passwordHash] = await Promise.all([
    liveId !== null && liveKey !== null && opens(db, liveId, liveKey),
    file !== null && opens(db, file.test.integration_id, file.test.api_key),
    file === null ? null : hashThatOpens(db, file),
  ]);
  if (file !== null && options.dataDir !== null && liveId !== null && liveKey !== null && isLiveGood) {
    const live = { integration_id: liveId, api_key: liveKey };
    writeDemoFile(options.dataDir, {
      ...file,
      ...(passwordHash === null ? {} : { password_hash: passwordHash }),
      live,
    });
  }
  if (!isLiveGood && !isTestGood) return null;
  return {
    email: DEMO_EMAIL,
    password: passwordHash === null ? null : (file?.password ?? null),
    liveKey: isLiveGood ? liveKey : null,
    testKey: isTestGood ? (file?.test.api_key ?? null) : null,
    isNew: false,
  };
}

async function giveLiveKey(db: Database, liveId: string | null, liveKey: string, options: DemoOptions): Promise<void> {
  if (liveId === null) options.onNotice('DEMO_API_KEY has no effect: this database has no demo integration.');
  else await setApiKey(db, DEMO, liveId, liveKey);
}

/** By the id that was noted, else (the note may be lost) by the demo user and the name that we gave it. */
async function findLiveIntegration(db: Queryable, file: DemoFile | null): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(sql`
    select i.id from integrations i
    left join users u on u.organization_id = i.organization_id and u.email = ${DEMO_EMAIL}
    where i.id = ${file?.live.integration_id ?? ''}
      or (u.id is not null and i.name = ${LIVE_NAME} and not i.is_test_mode)
    order by i.id = ${file?.live.integration_id ?? ''} desc, i.id
    limit 1`);
  return row?.id ?? null;
}

async function opens(db: Queryable, integrationId: string, key: string): Promise<boolean> {
  const rows = await db.query(sql`
    select id from integrations where id = ${integrationId} and key_hash = ${hashApiKey(key)}`);
  return rows.length === 1;
}

/** The hash of the demo user, if the password that was noted still opens the account; else null. */
async function hashThatOpens(db: Queryable, { email, password, ...noted }: DemoFile): Promise<string | null> {
  const [row] = await db.query<{ hash: string }>(sql`
    select a.password as hash from users u join accounts a on a.user_id = u.id
    where u.email = ${email} and a.password is not null limit 1`);
  if (row === undefined) return null;
  // To check a password takes a fifth of a second of CPU time, on purpose: what was checked once need not be at every start.
  if (row.hash === noted.password_hash) return row.hash;
  const { verifyPassword } = await import('better-auth/crypto');
  return (await verifyPassword({ hash: row.hash, password })) ? row.hash : null;
}
