import { verifyPassword } from 'better-auth/crypto';
import { randomBase62 } from '../contract/ids.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { StartError } from '../db/start-error.ts';
import { hashApiKey } from '../dealers/api-keys.ts';
import { DealerError } from '../dealers/dealer-error.ts';
import { createIntegration, setKey } from '../dealers/integrations.ts';
import { createOrganization } from '../dealers/organizations.ts';
import { createUser } from '../dealers/users.ts';
import { type DemoFile, readDemoFile, writeDemoFile } from './demo-file.ts';

/** One dealer to try things on, as far as what we know of it still holds: null where a key was changed since. */
export type Demo = {
  email: string;
  password: string | null;
  liveKey: string | null;
  testKey: string | null;
};

export type DemoOptions = {
  /** The key that the live integration shall have; null lets one be made. */
  liveKey: string | null;
  /** Where to keep what was made; null keeps nothing, and it is shown once only. */
  dataDir: string | null;
  onNotice: (message: string) => void;
};

const EMAIL = 'demo@crownwheel.example';
const LIVE_NAME = 'Main website';
/** Any number: it keeps two nodes from making the demo data twice. */
const DEMO_LOCK = 7_262_002;

/** Fills an empty database with demo data, or finds what an earlier start made; null if there is none. */
export async function prepareDemo(db: Database, options: DemoOptions): Promise<Demo | null> {
  try {
    return (await seed(db, options)) ?? (await revisit(db, options));
  } catch (error) {
    if (error instanceof DealerError) throw new StartError(`DEMO_API_KEY cannot be used: ${error.message}`);
    throw error;
  }
}

/** All or nothing, in one transaction: a start that is killed in the middle leaves an empty database to the next. */
async function seed(db: Database, options: DemoOptions): Promise<Demo | null> {
  if (await hasOrganization(db)) return null;
  return await db.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(${DEMO_LOCK})`);
    if (await hasOrganization(tx)) return null;
    const made = await makeDemo(tx, options.liveKey);
    // Before the commit: a kill between the two leaves a file that the next start overwrites, not data without it.
    if (options.dataDir !== null) writeDemoFile(options.dataDir, made);
    return { email: made.email, password: made.password, liveKey: made.live.api_key, testKey: made.test.api_key };
  });
}

async function makeDemo(tx: Transaction, liveKey: string | null): Promise<DemoFile> {
  const organization = await createOrganization(tx, { name: 'Aurum & Escapement', hasPlan: true });
  const password = `demo-${randomBase62(12)}`;
  const user = await createUser(tx, { organizationId: organization.id, name: 'Dana Demo', email: EMAIL, password });
  const owner = { organizationId: organization.id, userId: user.id, currency: 'USD' };
  const live = await createIntegration(tx, {
    ...owner,
    name: LIVE_NAME,
    isTestMode: false,
    ...(liveKey === null ? {} : { apiKey: liveKey }),
  });
  const test = await createIntegration(tx, { ...owner, name: 'Staging website', isTestMode: true });
  return {
    email: EMAIL,
    password,
    live: { integration_id: live.id, api_key: live.apiKey },
    test: { integration_id: test.id, api_key: test.apiKey },
  };
}

/** Shows only what still opens the door: an operator may have changed or deleted anything since. */
async function revisit(db: Database, options: DemoOptions): Promise<Demo | null> {
  const file = options.dataDir === null ? null : readDemoFile(options.dataDir);
  const liveId = await findLiveIntegration(db, file);
  if (options.liveKey !== null) await giveLiveKey(db, liveId, options.liveKey, options);
  const liveKey = options.liveKey ?? file?.live.api_key ?? null;
  const [isLiveGood, isTestGood, isPasswordGood] = await Promise.all([
    liveId !== null && liveKey !== null && opens(db, liveId, liveKey),
    file !== null && opens(db, file.test.integration_id, file.test.api_key),
    file !== null && isPassword(db, file.email, file.password),
  ]);
  if (file !== null && options.dataDir !== null && liveId !== null && liveKey !== null && isLiveGood) {
    writeDemoFile(options.dataDir, { ...file, live: { integration_id: liveId, api_key: liveKey } });
  }
  if (!isLiveGood && !isTestGood) return null;
  return {
    email: EMAIL,
    password: isPasswordGood ? (file?.password ?? null) : null,
    liveKey: isLiveGood ? liveKey : null,
    testKey: isTestGood ? (file?.test.api_key ?? null) : null,
  };
}

async function giveLiveKey(db: Database, liveId: string | null, liveKey: string, options: DemoOptions): Promise<void> {
  if (liveId === null) options.onNotice('DEMO_API_KEY has no effect: this database has no demo integration.');
  else await setKey(db, liveId, liveKey);
}

/** By the id that was noted, else (the note may be lost) by the demo user and the name that we gave it. */
async function findLiveIntegration(db: Queryable, file: DemoFile | null): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(sql`
    select i.id from integrations i
    left join users u on u.organization_id = i.organization_id and u.email = ${EMAIL}
    where i.id = ${file?.live.integration_id ?? ''}
      or (u.id is not null and i.name = ${LIVE_NAME} and not i.is_test_mode)
    order by i.id = ${file?.live.integration_id ?? ''} desc, i.id
    limit 1`);
  return row?.id ?? null;
}

async function hasOrganization(db: Queryable): Promise<boolean> {
  return (await db.query(sql`select id from organizations limit 1`)).length > 0;
}

async function opens(db: Queryable, integrationId: string, key: string): Promise<boolean> {
  const rows = await db.query(sql`
    select id from integrations where id = ${integrationId} and key_hash = ${hashApiKey(key)}`);
  return rows.length === 1;
}

async function isPassword(db: Queryable, email: string, password: string): Promise<boolean> {
  const [row] = await db.query<{ hash: string }>(sql`
    select a.password as hash from users u join accounts a on a.user_id = u.id
    where u.email = ${email} and a.password is not null limit 1`);
  return row !== undefined && (await verifyPassword({ hash: row.hash, password }));
}
