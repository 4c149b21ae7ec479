import type pg from 'pg';
import { TYPE_PARSERS } from './values/type-parsers.ts';

/** Where the server is: a URL, or a folder with a unix socket. */
export type DatabaseAddress = { url: string } | { socketDir: string; user: string; database: string };

export type ConnectionLimits = {
  connectTimeoutMs: number;
  statementTimeoutMs: number;
  lockTimeoutMs: number;
};

/** The schema that holds our tables, unless the operator names another. */
export const DEFAULT_SCHEMA = 'public';
/** A name that needs no quotes anywhere. */
export const SCHEMA_PATTERN = /^[a-z_][a-z0-9_]{0,62}$/;

/** The server cancels a slow statement first; this ends the wait when the server itself hangs. */
export const CLIENT_GRACE_MS = 1_000;
/** Part of the name of every PostgreSQL socket; the embedded server keeps the default. */
const SOCKET_PORT = 5432;

/**
 * The session settings that our promises depend on. Every connection sends them when it is opened, where they win over
 * the server's configuration, `alter role … set`, `alter database … set` and the URL. Otherwise one variable in the
 * environment (`PGOPTIONS='-c synchronous_commit=off'`) would lose orders that we acknowledged.
 */
const SESSION_SETTINGS = {
  // A commit that we answered for is on disk, and with a synchronous standby on that one's disk too.
  synchronous_commit: 'on',
  // Lock order and retries are written for this isolation level.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // An idle connection of the pool is ours to close.
  idle_session_timeout: '0',
  // How values read and are written as text.
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  // What our statements mean.
  array_nulls: 'on',
  transform_null_equals: 'off',
  gin_fuzzy_search_limit: '0',
  // Our statements read few rows. A plan that avoids what is switched off looks so dear to servers before 18 that they compile it, for
  // longer than it runs.
  jit: 'off',
} as const;

/** What pg needs to open a connection, whatever the environment says. Nothing else in the project opens one. */
export function clientConfig(
  address: DatabaseAddress,
  limits: ConnectionLimits,
  { schema = DEFAULT_SCHEMA, applicationName = 'crownwheel' } = {},
): pg.ClientConfig {
  const options = sessionOptions(schema);
  return {
    ...('url' in address ? urlConfig(address.url, options) : socketConfig(address, options)),
    application_name: applicationName,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: Math.min(limits.lockTimeoutMs, limits.statementTimeoutMs),
    query_timeout: limits.statementTimeoutMs + CLIENT_GRACE_MS,
    idle_in_transaction_session_timeout: limits.statementTimeoutMs * 2,
    keepAlive: true,
    types: TYPE_PARSERS,
    // pg would take both from the environment, if they were left out.
    client_encoding: 'utf8',
    replication: 'false',
  } as pg.ClientConfig;
}

/** In the form of the server's command line, which is how a connection may send any setting. */
export function sessionOptions(schema = DEFAULT_SCHEMA): string {
  const settings = { ...SESSION_SETTINGS, search_path: schema };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/** All that pg would look up in PG… variables is said here: the embedded server is ours, on a socket, without TLS. */
function socketConfig(address: { socketDir: string; user: string; database: string }, options: string): object {
  const { socketDir, user, database } = address;
  return { host: socketDir, port: SOCKET_PORT, user, database, ssl: false, sslnegotiation: 'postgres', options };
}

/** The URL says where the server is, who we are, and how TLS is done. pg would let it overrule our limits as well. */
const URL_PARAMETERS = new Set([
  'host',
  'port',
  'user',
  'password',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'uselibpqcompat',
  'enableChannelBinding',
]);

/** The URL's own options go first, because some providers route by them; of two that contradict, the last one counts. */
function urlConfig(url: string, options: string): object {
  const start = url.indexOf('?');
  const [base, query] = start === -1 ? [url, ''] : [url.slice(0, start), url.slice(start + 1)];
  const own = new URLSearchParams(query).get('options');
  // The parts are kept as they were written: pg has its own way to read what is not encoded.
  const kept = query.split('&').filter((part) => URL_PARAMETERS.has(decoded(part.split('=', 1)[0] ?? '')));
  const connectionString = kept.length === 0 ? base : `${base}?${kept.join('&')}`;
  return { connectionString, options: own ? `${own} ${options}` : options };
}

function decoded(text: string): string {
  return new URLSearchParams(`${text}=`).keys().next().value ?? '';
}
