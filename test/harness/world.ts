import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DIST_DIR } from '../../dashboard/build-state.ts';
import type { ChannelContext } from '../../src/channel/context.ts';
import { VERSIONS } from '../../src/contract/versions.ts';
import type { Database } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { createIntegration } from '../../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../../src/dealers/organizations.ts';
import { insertUser } from '../../src/dealers/users/users.ts';
import { buildApp } from '../../src/http/app.ts';
import type { AppOptions } from '../../src/http/app-options.ts';
import type { DashboardOptions } from '../../src/http/dashboard/dashboard-options.ts';
import { loadPageFiles, type PageFiles } from '../../src/http/dashboard/static/page-files.ts';
import { createLog } from '../../src/http/logging/log.ts';
import { memoryStore } from '../../src/http/public/rate-limit/memory-store.ts';
import { createReadiness } from '../../src/http/readiness.ts';
import { createPhotoReader } from '../../src/inventory/photos/photo-reader.ts';
import type { PhotoFiles } from '../../src/inventory/photos/storage/photo-files.ts';
import { photoFolder } from '../../src/inventory/photos/storage/photo-folder.ts';
import { claimStorage, removePhotoFiles } from '../../src/inventory/photos/storage/photo-storage-owner.ts';
import { createChangeFeed } from '../../src/live/change-feed.ts';
import { channelNotifier } from '../../src/live/notify-dashboards.ts';
import { TESTER } from './actor.ts';
import { cloneDatabase, type TestDatabase } from './database/database.ts';
import { type ApiClient, apiClient } from './http/api-client.ts';
import { TEST_PASSWORD_HASH } from './passwords.ts';

export const WORLD_SECRET_KEY = 'a secret key for tests, long enough to be one';
export const PUBLIC_URL = 'https://api.crownwheel.test';

/** The real app on a real database of its own, listening on a real port. */
export type World = {
  app: FastifyInstance;
  db: Database;
  database: TestDatabase;
  /** Where the app listens, such as http://127.0.0.1:53124. */
  origin: string;
  port: number;
  /** What the operations on stock are handed; the same one that the app uses. */
  channel: ChannelContext;
  /** Sets the time that the channel sees; null gives it back to the database. */
  setTime(time: Date | null): void;
  /** Where this world's photos lie. */
  photoFiles: PhotoFiles;
  /** Everything that was logged, one JSON line each. */
  logLines: string[];
  dealer(): Promise<Dealer>;
  client(apiKey: string | null): ApiClient;
  stop(): Promise<void>;
};

/** A dealer with one user and one live integration. */
export type Dealer = { organizationId: string; userId: string; integrationId: string; apiKey: string; api: ApiClient };

type WorldOptions = Partial<Omit<AppOptions, 'dashboard'>> & {
  database?: TestDatabase;
  versions?: ChannelContext['versions'];
  /** Null serves no dashboard. */
  dashboard?: Partial<DashboardOptions> | null;
  /** A port that is free, for a public URL that names it. */
  port?: number;
};

export async function startWorld(overrides: WorldOptions = {}): Promise<World> {
  const database = overrides.database ?? (await cloneDatabase());
  const logLines: string[] = [];
  let time: Date | null = null;
  const photoDir = await mkdtemp(join(tmpdir(), 'crownwheel-photos-'));
  const photoFiles = photoFolder(photoDir);
  await claimStorage(database.db, photoFiles, { isPrivate: true });
  const { dashboard, port: wantedPort = 0, ...appOptions } = overrides;
  const publicUrl = overrides.publicUrl ?? PUBLIC_URL;
  const feed = createChangeFeed(database.db);
  const notifyOfChannels = channelNotifier(database.db, feed.notify);
  const channel: ChannelContext = {
    db: database.db,
    now: () => time,
    publicUrl,
    versions: overrides.versions ?? VERSIONS,
    onEvents: notifyOfChannels,
    notifyDashboards: feed.notify,
    onPhotosRemoved: (photoIds) => void removePhotoFiles(database.db, photoFiles, photoIds),
  };
  const app = await buildApp({
    channel,
    secretKeys: [WORLD_SECRET_KEY],
    readCacheBytes: 16_000_000,
    db: database.db,
    log: createLog({ level: 'debug', isPretty: false, destination: collector(logLines) }),
    publicUrl,
    rateLimits: memoryStore(),
    readiness: createReadiness(() => database.db.query(sql`select 1`)),
    hasApi: true,
    trustedProxies: [],
    dashboard:
      dashboard === null
        ? null
        : {
            pages: builtPages,
            isSignUpOpen: true,
            isMailOn: true,
            isPrivateWebhookAllowed: true,
            feed,
            photoFiles,
            ...dashboard,
          },
    photoReader: createPhotoReader(database.db, photoFiles, () => {}),
    ...appOptions,
  });
  await app.listen({ host: '127.0.0.1', port: wantedPort });
  const { port } = app.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const client = (apiKey: string | null) => apiClient(origin, apiKey);
  return {
    app,
    db: database.db,
    database,
    origin,
    port,
    channel: overrides.channel ?? channel,
    setTime(next) {
      time = next;
    },
    photoFiles,
    logLines,
    client,
    dealer: () => makeDealer(database.db, client),
    async stop() {
      await app.close();
      await feed.stop();
      await database.drop();
      await rm(photoDir, { recursive: true, force: true });
    },
  };
}

let pages: PageFiles | null = null;

/** The dashboard as the global setup has built it; read when the first test asks for a page. */
function builtPages(): PageFiles {
  pages ??= loadPageFiles(DIST_DIR, '');
  return pages;
}

let dealersMade = 0;

async function makeDealer(db: Database, client: (apiKey: string) => ApiClient): Promise<Dealer> {
  dealersMade += 1;
  const organization = await createOrganization(db, TESTER, { name: `Dealer ${dealersMade}`, hasPlan: true });
  const email = `user${dealersMade}-${process.pid}@dealer.example`;
  const person = { organizationId: organization.id, name: 'Test User', email };
  const user = await insertUser(db, TESTER, person, TEST_PASSWORD_HASH);
  const { id, apiKey } = await createIntegration(db, TESTER, {
    organizationId: organization.id,
    userId: user.id,
    name: 'Website',
    currency: 'USD',
    isTestMode: false,
  });
  return { organizationId: organization.id, userId: user.id, integrationId: id, apiKey, api: client(apiKey) };
}

function collector(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().split('\n').filter(Boolean));
      done();
    },
  });
}
