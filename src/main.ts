import { type Config, readConfig } from './config.ts';
import type { Database } from './db/database.ts';
import { migrate } from './db/migrate.ts';
import { StartError } from './db/start-error.ts';
import { buildApp } from './http/app.ts';
import { createLog } from './http/log.ts';
import { memoryStore } from './http/public/rate-limit/memory-store.ts';
import { postgresStore } from './http/public/rate-limit/postgres-store.ts';
import { connect } from './ops/connect.ts';
import { type Demo, seedDemo } from './ops/demo.ts';
import { welcome } from './ops/welcome.ts';

/** How long a stop waits for requests under way before it gives up on them. */
const DRAIN_LIMIT_MS = 15_000;

const startedAt = Date.now();
try {
  await run(readConfig());
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  for (const line of error.message.split('\n')) console.error(`crownwheel: ${line}`);
  process.exit(1);
}

async function run(settings: Config): Promise<void> {
  const log = createLog({ level: settings.logLevel, isPretty: process.stderr.isTTY });
  const { config, db, close } = await connect(settings, {
    isExclusive: true,
    onProgress: (message) => console.log(message),
    onFault: (message) => log.warn(message),
  });
  try {
    await migrate(db, (name) => console.log(`Migrating: ${name}`));
    const demo = config.isDemoWanted ? await seed(db, config) : null;
    const app = await buildApp({
      db,
      log,
      publicUrl: config.publicUrl,
      rateLimits: config.rateLimitStore === 'memory' ? memoryStore() : postgresStore(db),
      hasApi: config.roles.includes('api'),
    });
    await app.listen({ host: config.host, port: config.port }).catch((error: NodeJS.ErrnoException) => {
      throw new StartError(listenProblem(error, config));
    });
    console.log(welcome(config, demo, Date.now() - startedAt));
    stopOnSignals(async () => {
      await app.close();
      await close();
    });
  } catch (error) {
    await close();
    throw error;
  }
}

async function seed(db: Database, config: Config): Promise<Demo | null> {
  return await seedDemo(db, config.demoApiKey);
}

/** The first signal drains and stops; a second one, or a drain that takes too long, ends the process at once. */
function stopOnSignals(stop: () => Promise<void>): void {
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      console.log('\nStopping: finishing requests under way …');
      setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error('crownwheel: the stop was not clean:', error);
          process.exit(1);
        },
      );
    });
  }
}

function listenProblem(error: NodeJS.ErrnoException, config: Config): string {
  const place = `${config.host}:${config.port}`;
  if (error.code === 'EADDRINUSE') return `port ${config.port} is taken on ${config.host}; set PORT to another`;
  if (error.code === 'EACCES') return `no permission to listen on ${place}; set PORT to one above 1023`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `HOST ${config.host} is not an address of this machine`;
  return `cannot listen on ${place}: ${error.message}`;
}
