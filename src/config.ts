import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  CONNECTIONS_PER_ADDRESS_DEFAULT,
  DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
  STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
  STORAGE_QUOTA_MAX_MB_PER_DAY,
} from './contract/limits.ts';
import { DEFAULT_SCHEMA, SCHEMA_PATTERN } from './db/connection-settings.ts';
import { giveToFolderOwner, makeDataFolder } from './db/embedded/data-folder.ts';
import { StartError } from './db/start-error.ts';
import { proxyProblem } from './http/connection/client-address.ts';
import type { MailSettings } from './notifications/smtp.ts';

/**
 * All settings, read from the environment once and checked together. Only this file reads process.env; everything else
 * gets the values it needs as arguments.
 */
const ROLES = ['api', 'dashboard', 'worker'] as const;
export type ProcessRole = (typeof ROLES)[number];

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a mass change of a large stock and the server's own log need at the same time. */
const DISK_RESERVE_DEFAULT_MB = 512;
const DISK_RESERVE_MAX_MB = 100_000_000;

export type Config = Readonly<{
  host: string;
  port: number;
  /** How long a stopping process still takes requests while it reports that it is not ready. */
  drainSeconds: number;
  /** The {base_url} of everything that leaves the service; without a trailing slash. */
  publicUrl: string;
  dataDir: string;
  /** Null runs the embedded server under dataDir. */
  databaseUrl: string | null;
  databasePoolSize: number;
  /** The schema of our tables. */
  databaseSchema: string;
  roles: readonly ProcessRole[];
  /** How many processes answer requests on the port. With more than one, another one supervises them and does the work of the role worker. */
  processes: number;
  isDemoWanted: boolean;
  /** Whether a new dealer may sign up in the dashboard. */
  isSignUpOpen: boolean;
  /** Proxies whose X-Forwarded-For counts. */
  trustedProxies: readonly string[];
  /** How many connections one address may have open, unless it is a trusted proxy's. */
  connectionsPerAddress: number;
  demoApiKey: string | null;
  /** The first signs and encrypts, all verify and decrypt. Empty until `withSecretKeys`. */
  secretKeys: readonly string[];
  rateLimitStore: 'memory' | 'postgres';
  /** Memory for the answers to reads. */
  readCacheMb: number;
  /** How much one integration may store in a day. */
  storageQuotaMbPerDay: number;
  /** How much the people of one dealer may store in a day by the dashboard. */
  dashboardStorageQuotaMbPerDay: number;
  /** What stays free on the disk of the embedded database. */
  diskReserveMb: number;
  /** Null keeps photos in a folder under dataDir. */
  photoBucket: PhotoBucket | null;
  /** Whether webhooks may go to http and to private addresses: for development. */
  isPrivateWebhookAllowed: boolean;
  /** How long the audit log is kept. */
  auditDays: number;
  /** Null sends no mail. */
  mail: MailSettings | null;
  logLevel: LogLevel;
}>;

/** Where photos lie in an S3 storage. */
export type PhotoBucket = Readonly<{
  bucket: string;
  region: string;
  endpoint: string | null;
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  isPathStyle: boolean;
  prefix: string;
}>;

const API_KEY_PATTERN = /^svc_[A-Za-z0-9]{32}$/;
export const SECRET_KEY_MIN_LENGTH = 32;

type Environment = Record<string, string | undefined>;

export function readConfig(environment: Environment = process.env): Config {
  const problems: string[] = [];
  const read = reader(environment, problems);

  const databaseUrl = read.text('DATABASE_URL', null, databaseUrlProblem);
  const isEmbedded = databaseUrl === null;
  const port = read.integer('PORT', 4000, 1, 65_535);
  const publicUrl = read.text('PUBLIC_URL', `http://localhost:${port}`, publicUrlProblem);
  const secretKeys = read.list('SECRET_KEYS', (value) =>
    value.length >= SECRET_KEY_MIN_LENGTH ? null : `every key must have at least ${SECRET_KEY_MIN_LENGTH} characters`,
  );
  if (!isEmbedded && secretKeys.length === 0) {
    problems.push(
      'SECRET_KEYS is required with DATABASE_URL: one or more keys of at least 32 characters, separated by commas (make one with "openssl rand -hex 32")',
    );
  }
  const databaseSchema = read.text('DATABASE_SCHEMA', DEFAULT_SCHEMA, (value) =>
    SCHEMA_PATTERN.test(value) ? null : 'must be a name of lower case letters, digits and underscores',
  );
  if (isEmbedded && databaseSchema !== DEFAULT_SCHEMA) problems.push('DATABASE_SCHEMA needs DATABASE_URL');
  const roles = read.choices('ROLES', ROLES);
  const processes = readProcesses(read, roles, problems);
  const isAlone = isEmbedded && processes === 1;
  const rateLimitStore = read.choice('RATE_LIMIT_STORE', ['memory', 'postgres'], isAlone ? 'memory' : 'postgres');
  if (rateLimitStore === 'memory' && processes > 1) {
    problems.push('RATE_LIMIT_STORE=memory counts within one process; with PROCESSES above 1 it must be postgres');
  }
  const config: Config = {
    host: read.text('HOST', '127.0.0.1', () => null) ?? '127.0.0.1',
    port,
    drainSeconds: read.integer('DRAIN_SECONDS', 0, 0, 600),
    publicUrl: (publicUrl ?? '').replace(/\/+$/, ''),
    dataDir: read.text('DATA_DIR', '.data', () => null) ?? '.data',
    databaseUrl,
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 20, 2, 500),
    databaseSchema,
    roles,
    processes,
    isDemoWanted: read.choice('DEMO', ['on', 'off'], isEmbedded ? 'on' : 'off') === 'on',
    isSignUpOpen: read.choice('SIGN_UP', ['on', 'off'], isEmbedded ? 'on' : 'off') === 'on',
    trustedProxies: read.list('TRUSTED_PROXIES', proxyProblem),
    connectionsPerAddress: read.integer('CONNECTIONS_PER_ADDRESS', CONNECTIONS_PER_ADDRESS_DEFAULT, 1, 1_000_000),
    demoApiKey: read.text('DEMO_API_KEY', null, (value) =>
      API_KEY_PATTERN.test(value) ? null : 'must be "svc_" followed by exactly 32 letters or digits',
    ),
    secretKeys,
    rateLimitStore,
    readCacheMb: read.integer('READ_CACHE_MB', 128, 1, 100_000),
    storageQuotaMbPerDay: read.integer(
      'STORAGE_QUOTA_MB_PER_DAY',
      STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
      1,
      STORAGE_QUOTA_MAX_MB_PER_DAY,
    ),
    dashboardStorageQuotaMbPerDay: read.integer(
      'DASHBOARD_STORAGE_QUOTA_MB_PER_DAY',
      DASHBOARD_STORAGE_QUOTA_DEFAULT_MB_PER_DAY,
      1,
      STORAGE_QUOTA_MAX_MB_PER_DAY,
    ),
    diskReserveMb: read.integer('DISK_RESERVE_MB', DISK_RESERVE_DEFAULT_MB, 0, DISK_RESERVE_MAX_MB),
    photoBucket: readPhotoBucket(read, problems),
    isPrivateWebhookAllowed: read.choice('WEBHOOK_PRIVATE_TARGETS', ['on', 'off'], isEmbedded ? 'on' : 'off') === 'on',
    auditDays: read.integer('AUDIT_DAYS', 730, 30, 36_500),
    mail: readMail(read, problems),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
  };
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return Object.freeze(config);
}

const PROCESSES_LIMIT = 64;

/** `auto` is one for each core. A process that only works in the background is one in any case. */
function readProcesses(read: Reader, roles: readonly ProcessRole[], problems: string[]): number {
  const isAnswering = roles.some((role) => role !== 'worker');
  if (read.isAuto('PROCESSES')) return isAnswering ? Math.min(availableParallelism(), PROCESSES_LIMIT) : 1;
  const processes = read.integer('PROCESSES', 1, 1, PROCESSES_LIMIT);
  if (processes > 1 && !isAnswering) problems.push('PROCESSES above 1 needs the role api or dashboard');
  return processes;
}

/** Whether other processes work on the same database: what this one keeps in memory is then not all there is. */
export function sharesDatabase({ databaseUrl, processes }: Config): boolean {
  return databaseUrl !== null || processes > 1;
}

function readMail(read: Reader, problems: string[]): MailSettings | null {
  const url = read.text('SMTP_URL', null, smtpUrlProblem);
  const from = read.text('MAIL_FROM', null, (value) =>
    /^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/.test(value)
      ? null
      : 'must be an address such as "Crownwheel <alerts@example.com>"',
  );
  if ((url === null) !== (from === null)) problems.push('SMTP_URL and MAIL_FROM belong together: set both or neither');
  return url === null || from === null ? null : { url, from };
}

function smtpUrlProblem(value: string): string | null {
  const form = 'must be a URL such as smtps://user:password@mail.example.com';
  if (!URL.canParse(value)) return `${form}; percent-encode special characters in the password`;
  const { protocol, hostname } = new URL(value);
  return (protocol === 'smtp:' || protocol === 'smtps:') && hostname !== '' ? null : form;
}

/** The bucket's settings count only when photos are to lie there. */
function readPhotoBucket(read: Reader, problems: string[]): PhotoBucket | null {
  if (read.choice('PHOTO_STORAGE', ['folder', 's3'], 'folder') === 'folder') return null;
  const bucket = read.text('PHOTO_S3_BUCKET', null, () => null);
  if (bucket === null) problems.push('PHOTO_S3_BUCKET is required with PHOTO_STORAGE=s3');
  const endpoint = read.text('PHOTO_S3_ENDPOINT', null, publicUrlProblem);
  const accessKeyId = read.text('PHOTO_S3_ACCESS_KEY_ID', null, () => null);
  const secretAccessKey = read.text('PHOTO_S3_SECRET_ACCESS_KEY', null, () => null);
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    problems.push('PHOTO_S3_ACCESS_KEY_ID and PHOTO_S3_SECRET_ACCESS_KEY belong together: set both or neither');
  }
  return {
    bucket: bucket ?? '',
    region: read.text('PHOTO_S3_REGION', 'us-east-1', () => null),
    endpoint,
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
    isPathStyle: read.choice('PHOTO_S3_PATH_STYLE', ['on', 'off'], endpoint === null ? 'off' : 'on') === 'on',
    prefix: read.text('PHOTO_S3_PREFIX', '', (value) =>
      /^[\w.-]+(\/[\w.-]+)*\/$/.test(value) ? null : 'must be a path such as "crownwheel/", with a slash at its end',
    ),
  };
}

/** With the embedded database the secret keys are made once and kept beside the data, readable by their owner only. */
export function withSecretKeys(config: Config): Config {
  if (config.secretKeys.length > 0) return config;
  const file = secretKeysFile(config);
  try {
    const root = makeDataFolder(config.dataDir);
    if (!existsSync(file)) makeSecretKeys(root, file);
    closeToOthers(file);
    const secretKeys = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    if (secretKeys.length > 0) return Object.freeze({ ...config, secretKeys });
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the secret keys cannot be read or made: ${(error as Error).message}`);
  }
  throw new StartError(`${file} holds no key; restore it from the backup`);
}

/** A backup may have been restored with the modes of another umask. */
function closeToOthers(file: string): void {
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
}

export function secretKeysFile(config: Config): string {
  return join(config.dataDir, 'secret-keys');
}

/** Written aside and moved, so that a kill in the middle leaves no empty file that would pass for the keys. */
function makeSecretKeys(root: string, file: string): void {
  const aside = `${file}.new-${process.pid}`;
  writeFileSync(aside, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  giveToFolderOwner(root, aside);
  try {
    // A link fails if another process was first; then its keys count.
    linkSync(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function databaseUrlProblem(value: string): string | null {
  if (!/^postgres(ql)?:\/\//i.test(value)) return 'must be a URL that begins with postgres:// or postgresql://';
  // A unix socket's URL may have a user and no host (postgres://user@/database?host=/folder), which URL refuses.
  if (URL.canParse(value) || URL.canParse(value.replace('@/', '@localhost/'))) return null;
  return 'is not a valid URL; percent-encode special characters in the password';
}

function publicUrlProblem(value: string): string | null {
  if (!URL.canParse(value)) return 'must be an absolute URL such as https://api.example.com';
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must not have a user or a password';
  if (url.search !== '' || url.hash !== '') return 'must not have a query or a fragment';
  return null;
}

type Reader = ReturnType<typeof reader>;

/** Reads one variable at a time and notes what is wrong with it; an empty variable counts as not set. */
function reader(environment: Environment, problems: string[]) {
  const settingOf = (name: string) => environment[name]?.trim() || undefined;
  const partsOf = (value: string) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  const shown = (value: string) => JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);

  function choice<Choice extends string>(name: string, allowed: readonly Choice[], fallback: Choice): Choice {
    const value = settingOf(name);
    if (value === undefined) return fallback;
    const found = allowed.find((candidate) => candidate === value.toLowerCase());
    if (found === undefined) problems.push(`${name} must be one of ${allowed.join(', ')}; it is ${shown(value)}`);
    return found ?? fallback;
  }

  return {
    choice,
    isAuto: (name: string) => settingOf(name)?.toLowerCase() === 'auto',
    text<Fallback extends string | null>(
      name: string,
      fallback: Fallback,
      problemOf: (value: string) => string | null,
    ) {
      const value = settingOf(name);
      if (value === undefined) return fallback;
      const problem = problemOf(value);
      // The value is not shown: a database URL carries a password, a key is a secret.
      if (problem !== null) problems.push(`${name} ${problem}`);
      return value;
    },
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = settingOf(name);
      if (value === undefined) return fallback;
      const number = Number(value);
      if (/^\d+$/.test(value) && number >= min && number <= max) return number;
      problems.push(`${name} must be a whole number from ${min} to ${max}; it is ${shown(value)}`);
      return fallback;
    },
    choices<Choice extends string>(name: string, allowed: readonly Choice[]): Choice[] {
      const value = settingOf(name);
      if (value === undefined) return [...allowed];
      const wanted = partsOf(value).map((part) => part.toLowerCase());
      if (wanted.length === 0) problems.push(`${name} must name at least one of ${allowed.join(', ')}`);
      const unknown = wanted.find((part) => !allowed.some((candidate) => candidate === part));
      if (unknown !== undefined) {
        problems.push(`${name} must be a list of ${allowed.join(', ')}; it names ${shown(unknown)}`);
      }
      return allowed.filter((candidate) => wanted.includes(candidate));
    },
    list(name: string, problemOf: (value: string) => string | null): string[] {
      const present = partsOf(settingOf(name) ?? '');
      const problem = present.map(problemOf).find((found) => found !== null);
      if (problem !== undefined) problems.push(`${name}: ${problem}`);
      return present;
    },
  };
}
