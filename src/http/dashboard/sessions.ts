import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { endOldestSessions, keepVerifiedSession } from '../../dealers/users/account.ts';
import { networkOf } from '../../dealers/users/client-network.ts';
import { withPasswordSlot } from '../../dealers/users/password-hashing.ts';
import { SESSION_COOKIE, sessionCookieName } from '../../dealers/users/session-cookie.ts';
import { ADDRESS_HEADER, createSignIn, SESSION_RENEWED_AFTER_SECONDS } from '../../dealers/users/sign-in.ts';
import {
  type AttemptRefusal,
  accountOf,
  countAttempt,
  countSignUp,
  forgiveAttempt,
} from '../../dealers/users/sign-in-attempts.ts';
import { type StorageUseRow, storageUseColumns, storageUseOf } from '../../quota/storage-usage.ts';
import { lazy } from '../lazy.ts';
import type { SignedIn } from './call.ts';
import { cookieOf } from './cookie.ts';
import { DashboardError } from './dashboard-error.ts';
import { createDeviceCookies, type SignInAccount } from './device-cookie.ts';
import type { FindLiveSessions } from './open-streams.ts';

/**
 * The sessions of a dealer's people. The sign-in library keeps them; a cookie that scripts can't read holds the token.
 */
export type Sessions = {
  /** The session cookie of a request, whether its session exists or not; null if there is none. */
  cookieOf(request: FastifyRequest): string | null;
  /**
   * Who last used the session cookie of a request, as this process remembers it: to know whose share a lookup takes before
   * it is made. Whether the session still exists is not known. Null for a cookie that is new to this process.
   */
  lastUserOf(request: FastifyRequest): KnownUser | null;
  /** Null without a cookie, or with one whose session has ended. Prolongs a session that is used. */
  find(request: FastifyRequest, reply: FastifyReply, address: string): Promise<SignedIn | null>;
  /** The sessions that have not ended, with the current role of each person. */
  findLive: FindLiveSessions;
  /** Counts the attempt, checks the password and sets the cookies. */
  signIn(input: Attempt, request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>;
  /** The same for a person whose password was just set, by a link or with a new account: there is nothing to guess. */
  start(input: Attempt, request: FastifyRequest, reply: FastifyReply): Promise<SignedIn>;
  /** Counts a new dealer from this address, before anything is done for it. */
  assertSignUp(address: string): Promise<void>;
  /** Checks the password of somebody who is signed in; counts the attempt, too. */
  verify(input: Attempt & { sessionId: string }): Promise<boolean>;
  signOut(request: FastifyRequest, reply: FastifyReply): Promise<void>;
};

type KnownUser = Pick<SignedIn, 'userId' | 'organizationId'>;
type Attempt = { email: string; password: string; address: string };

type SessionOptions = {
  secretKeys: readonly string[];
  publicUrl: string;
  now: () => Date | null;
  /** How much a dealer may store in a day, unless it has a quota of its own. */
  dashboardStorageQuotaMbPerDay?: number | undefined;
};

export function createSessions(db: Database, options: SessionOptions): Sessions {
  const { publicUrl, secretKeys } = options;
  const auth = lazy(() => createSignIn(db, { secret: secretKeys[0] ?? '', publicUrl }));
  const cookieName = sessionCookieName(publicUrl);
  const devices = createDeviceCookies(secretKeys, publicUrl);
  const lookups = createSessionLookups(db.pool.options.max);
  const lastUsers = new LRUCache<string, KnownUser & { token: string }>({ max: KNOWN_COOKIES });

  /**
   * The account as it is before the sign-in. If its password is another one afterwards, it is not known which of the two the
   * library has verified.
   */
  async function startAs(
    account: SignInAccount,
    { email, password, address }: Attempt,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignedIn> {
    const input = { body: { email, password }, headers: headersOf(request, address), returnHeaders: true } as const;
    const { api } = await auth();
    const answer = await withPasswordSlot(address, () => api.signInEmail(input)).catch((error: unknown) => {
      if (isWrongPassword(error)) throw wrongPassword();
      throw error;
    });
    const session = { token: answer.response.token, userId: answer.response.user.id };
    if (!(await keepVerifiedSession(db, session, account.passwordHash))) throw wrongPassword();
    const found = await signedIn(db, session.token, options);
    if (found === null) {
      throw new DashboardError(
        'wrong_credentials',
        'This account belongs to no dealer. Ask the operator of this service.',
      );
    }
    await endOldestSessions(db, found.user.userId);
    const device = devices.deviceOf(request.headers.cookie, account);
    reply.header('set-cookie', [devices.setCookie(account, device), ...(answer.headers?.getSetCookie() ?? [])]);
    return found.user;
  }

  return {
    cookieOf: (request) => sessionCookieOf(request, cookieName),

    lastUserOf(request) {
      const cookie = sessionCookieOf(request, cookieName);
      return cookie === null ? null : (lastUsers.get(cookie) ?? null);
    },

    async find(request, reply, address) {
      const cookie = sessionCookieOf(request, cookieName);
      if (cookie === null) return null;
      const known = lastUsers.get(cookie);
      const headers = headersOf(request, address);
      // Only this cookie is used, so that a client can't write the same session in a hundred ways.
      headers.set('cookie', cookie);
      // One person may have fifty sessions, and anybody can make cookies up: neither has a share of its own.
      const found = await lookups(known?.organizationId ?? networkOf(address), async () => {
        // The library has checked the signature of this cookie before. It takes 3 ms, a statement alone a tenth of that.
        const again = known === undefined ? null : await signedIn(db, known.token, options);
        if (again !== null && !again.isRenewalDue) return again;
        const { response, headers: answered } = await (await auth()).api.getSession({ headers, returnHeaders: true });
        passCookies(answered, reply);
        return response === null ? null : await signedIn(db, response.session.token, options);
      });
      if (found === null) {
        lastUsers.delete(cookie);
        return null;
      }
      const { user, token } = found;
      lastUsers.set(cookie, { userId: user.userId, organizationId: user.organizationId, token });
      return user;
    },

    findLive: async (sessionIds) =>
      await db.query(sql`
        select s.id as "sessionId", u.role, u.organization_id as "organizationId"
        from sessions s join users u on u.id = s.user_id join organizations o on o.id = u.organization_id
        where s.id = any(${sessionIds}::text[]) and s.expires_at > now() and o.archived_at is null`),

    async signIn(attempt, request, reply) {
      const account = await findAccount(db, attempt.email);
      const subject = { ...attempt, device: devices.deviceOf(request.headers.cookie, account) };
      refuseFrequent(await countAttempt(db, subject), 'or ask an owner for a reset link');
      const user = await startAs(account, attempt, request, reply);
      await forgiveAttempt(db, subject);
      return user;
    },

    async start(attempt, request, reply) {
      return await startAs(await findAccount(db, attempt.email), attempt, request, reply);
    },

    async assertSignUp(address) {
      refuseFrequent(await countSignUp(db, address), 'then try again');
    },

    async verify(attempt) {
      // A session is a browser that its person has signed in to.
      const subject = { ...attempt, device: attempt.sessionId };
      refuseFrequent(await countAttempt(db, subject), 'or ask an owner for a reset link');
      const context = await (await auth()).$context;
      const { passwordHash: hash } = await findAccount(db, attempt.email);
      const { address, password } = attempt;
      const isRight =
        hash !== null && (await withPasswordSlot(address, () => context.password.verify({ hash, password })));
      if (isRight) await forgiveAttempt(db, subject);
      return isRight;
    },

    async signOut(request, reply) {
      const { headers } = await (await auth()).api.signOut({ headers: headersOf(request, ''), returnHeaders: true });
      passCookies(headers, reply);
    },
  };
}

async function findAccount(db: Database, email: string): Promise<SignInAccount> {
  const [row] = await db.query<{ hash: string }>(sql`
    select a.password as hash from users u join accounts a on a.user_id = u.id
    where u.email = ${accountOf(email)} and a.provider_id = 'credential' and a.password is not null`);
  return { email, passwordHash: row?.hash ?? null };
}

/** Taken from the connections that the reads and writes of clients use, too. */
const LOOKUPS_SHARE_OF_POOL = 1 / 5;
const LOOKUPS_SHARE_OF_ONE = 1 / 2;
const WAITING_LIMIT = 2_000;
const WAITING_LIMIT_PER_KEY = 200;
const WAIT_LIMIT_MS = 10_000;

/** More than are in use at a time; of one that is forgotten, the next lookup counts by address. */
const KNOWN_COOKIES = 50_000;

/**
 * Runs the lookup of a session. It comes before all limits of a dealer, so it has its own; without it, a thousand
 * requests of one dealer would hold every connection. Throws a SemaphoreError if too many wait.
 */
function createSessionLookups(poolSize: number) {
  const total = Math.max(2, Math.floor(poolSize * LOOKUPS_SHARE_OF_POOL));
  const slots = createKeyedSemaphore({
    total,
    perKey: Math.ceil(total * LOOKUPS_SHARE_OF_ONE),
    waitingTotal: WAITING_LIMIT,
    waitingPerKey: WAITING_LIMIT_PER_KEY,
  });
  return <Result>(key: string, lookUp: () => Promise<Result>): Promise<Result> =>
    slots.run(key, lookUp, { deadlineMs: performance.now() + WAIT_LIMIT_MS });
}

function sessionCookieOf({ headers }: FastifyRequest, name: string): string | null {
  return cookieOf(headers.cookie ?? '', name);
}

function refuseFrequent(waitSeconds: AttemptRefusal, otherwise: string): void {
  if (waitSeconds === null) return;
  const minutes = Math.ceil(waitSeconds / 60);
  throw new DashboardError(
    'too_many_attempts',
    `Too many attempts. Wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, ${otherwise}.`,
    { headers: { 'Retry-After': String(waitSeconds) } },
  );
}

/** A session that has not ended, and whether its use has to prolong it. */
type FoundSession = { user: SignedIn; token: string; isRenewalDue: boolean };

type SessionRow = Omit<SignedIn, 'storage'> & StorageUseRow & { isRenewalDue: boolean };

/** Role, dealer and quota are read afresh each time, so that a change holds from the next request on. */
async function signedIn(
  db: Database,
  token: string,
  { now, dashboardStorageQuotaMbPerDay }: SessionOptions,
): Promise<FoundSession | null> {
  const renewedSeconds = SESSION_COOKIE.lifetimeSeconds - SESSION_RENEWED_AFTER_SECONDS;
  const [row] = await db.query<SessionRow>(sql`
    select o.id as "organizationId", u.id as "userId", u.role, u.name, u.email, s.id as "sessionId",
      u.show_test_data as "showsTestData", o.currency, u.role = 'owner' or o.staff_sees_cost as "seesCost",
      s.expires_at <= now() + make_interval(secs => ${renewedSeconds}) as "isRenewalDue", ${storageUseColumns(now())}
    from sessions s join users u on u.id = s.user_id join organizations o on o.id = u.organization_id
    where s.token = ${token} and s.expires_at > now() and o.archived_at is null`);
  if (row === undefined) return null;
  const { storageQuotaMb, storageNow, storedBytes, isRenewalDue, ...user } = row;
  const use = { storageQuotaMb, storageNow, storedBytes };
  return { user: { ...user, storage: storageUseOf(use, dashboardStorageQuotaMbPerDay) }, token, isRenewalDue };
}

/** The headers that the library needs. We set the address ourselves, so that no client can forge it. */
function headersOf(request: FastifyRequest, address: string): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: address });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

function passCookies(headers: Headers | undefined, reply: FastifyReply): void {
  const cookies = headers?.getSetCookie() ?? [];
  if (cookies.length > 0) reply.header('set-cookie', cookies);
}

function wrongPassword(): DashboardError {
  return new DashboardError('wrong_credentials', 'Email or password is wrong.');
}

/** The library says 401 for both, and 400 for what is no email at all. */
function isWrongPassword(error: unknown): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: number };
  return statusCode === 401 || statusCode === 400;
}
