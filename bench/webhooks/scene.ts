import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../../src/audit/actor.ts';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { createIntegration } from '../../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../../src/dealers/organizations.ts';
import { setUrl } from '../../src/webhooks/endpoints/endpoint-settings.ts';
import { createSecretEncryption, type SecretEncryption } from '../../src/webhooks/endpoints/secret-encryption.ts';
import { type Endpoint, openOutbox } from '../../src/webhooks/outbox.ts';
import { createSsrfGuard } from '../../src/webhooks/sending/ssrf-guard.ts';
import type { Arrivals } from '../load/sink.ts';
import { freePort, type Stage } from '../processes.ts';
import { databaseUrlOf, openBackDoor } from '../shop.ts';

export const ENDPOINTS = 8;
/** The worker's first claims are made while it wakes up; figures begin after this share of the webhooks. */
const WARM_UP_SHARE = 0.1;

/** A worker of the real service, a sink, and a back door to the database in which events are made. */
export type Scene = {
  stage: Stage;
  db: Database;
  endpoints: Endpoint[];
  databaseUrl: string;
  worker: ChildProcess;
  workerEnv: Record<string, string>;
  /** The database server's own process. */
  postmaster: number | null;
  sink: string;
  encryption: SecretEncryption;
};

export async function setScene(stage: Stage): Promise<Scene> {
  const keys = { SECRET_KEYS: randomBytes(32).toString('hex') };
  const service = await stage.startService({ ROLES: 'api', ...keys });
  const { link } = await openBackDoor(service);
  const databaseUrl = databaseUrlOf(link);
  const workerEnv = { ROLES: 'api,worker', DATABASE_URL: databaseUrl, WEBHOOK_PRIVATE_TARGETS: 'on', ...keys };
  const { process: worker } = await stage.startService(workerEnv);
  const port = await freePort();
  await stage.startScript('load/sink.ts', [String(port)]);
  const sink = `http://127.0.0.1:${port}`;
  const encryption = createSecretEncryption([keys.SECRET_KEYS]);
  const endpoints = await makeEndpoints(link.db, encryption, `${sink}/hook`);
  const postmaster = (await link.embedded?.pid()) ?? null;
  return { stage, db: link.db, endpoints, databaseUrl, worker, workerEnv, postmaster, sink, encryption };
}

async function makeEndpoints(db: Database, encryption: SecretEncryption, url: string): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < ENDPOINTS; index++) {
    // A dealer each: the endpoints of one dealer share its slots.
    const organization = await createOrganization(db, COMMAND_LINE, { name: `Bench ${index}`, hasPlan: true });
    const { id: integrationId } = await createIntegration(db, COMMAND_LINE, {
      organizationId: organization.id,
      userId: null,
      name: 'Bench',
      currency: 'USD',
      isTestMode: false,
    });
    await setUrl(db, COMMAND_LINE, { guard: createSsrfGuard(true), encryption }, integrationId, url);
    endpoints.push({
      integrationId,
      organizationId: organization.id,
      apiVersion: '2026-05-07',
      isTestMode: false,
      url,
      subscriptions: ['*'],
      isSending: true,
    });
  }
  return endpoints;
}

export async function queueEvents(scene: Scene, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1_000) {
    const outbox = openOutbox();
    for (let index = 0; index < 1_000; index++) addEvent(outbox, scene.endpoints[index % ENDPOINTS] as Endpoint);
    await scene.db.transaction(async (tx) => outbox.write(tx));
  }
}

export function addEvent(outbox: ReturnType<typeof openOutbox>, endpoint: Endpoint) {
  return outbox.add(endpoint, {
    type: 'listing.updated',
    object: { id: 'lst_01h455vb4pex5vsknk084sn02q', object: 'listing' },
    previous: {},
    createdAt: new Date(),
    isSuppressed: false,
  });
}

export async function bodies(db: Database, count: number): Promise<string[]> {
  const rows = await db.query<{ body: string }>(sql`
    select body from events where created_at > now() - interval '1 hour' limit ${count}`);
  return rows.map((row) => row.body);
}

/** Waits until nothing is on its way, and forgets what has come. */
export async function settle(scene: Scene): Promise<void> {
  const waiting = async () =>
    (await scene.db.query(sql`select id from deliveries where status in ('pending', 'failed') limit 1`)).length;
  while ((await waiting()) > 0) await sleep(50);
  await arrivals(scene);
}

export async function counted({ sink }: Scene): Promise<number> {
  return Number(await (await fetch(`${sink}/count`)).text());
}

export async function arrivals({ sink }: Scene): Promise<Arrivals> {
  return (await (await fetch(`${sink}/arrivals`)).json()) as Arrivals;
}

export function rateOf({ times }: Arrivals): number {
  const steady = times.slice(Math.floor(times.length * WARM_UP_SHARE));
  return (steady.length - 1) / (((steady.at(-1) ?? 0) - (steady[0] ?? 0)) / 1000);
}

export function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}
