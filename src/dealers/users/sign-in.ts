import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../contract/dashboard/limits.ts';
import type { Database } from '../../db/database.ts';
import { isSecure, SESSION_COOKIE } from './session-cookie.ts';

/** The header in which the caller passes the client's address to the library. */
export const ADDRESS_HEADER = 'x-crownwheel-address';
/** How often a session that is used is prolonged. Its `updated_at` says when it was last seen. */
export const SESSION_RENEWED_AFTER_SECONDS = 600;

/**
 * Loading takes a quarter of a second of CPU time. The service does it before its first request; a command that signs
 * nobody in never does.
 */
export async function loadSignInLibrary() {
  return await import('better-auth');
}

/**
 * Sign-in of the dealer's people by the library better-auth, on our tables. Nobody signs up through the library: users are
 * made by an operator, by their organization, or with a new dealer (`SIGN_UP`).
 */
export async function createSignIn(db: Database, options: { secret: string; publicUrl: string }) {
  const { betterAuth } = await loadSignInLibrary();
  return betterAuth({
    database: db.pool,
    secret: options.secret,
    baseURL: options.publicUrl,
    // The library's own routes are not served; the dashboard's operations call it.
    basePath: '/api/dashboard/better-auth',
    telemetry: { enabled: false },
    // Attempts are counted in sign-in-attempts.ts; its own limiter counts in memory, for each node.
    rateLimit: { enabled: false },
    logger: { disabled: true },
    advanced: {
      cookiePrefix: SESSION_COOKIE.prefix,
      useSecureCookies: isSecure(options.publicUrl),
      defaultCookieAttributes: SESSION_COOKIE.attributes,
      // The address as we have found it out, not what a header of the client says.
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_MIN_LENGTH,
      maxPasswordLength: PASSWORD_MAX_LENGTH,
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: {
        organizationId: { type: 'string', fieldName: 'organization_id', required: false, input: false },
        role: { type: 'string', required: false, input: false },
        showTestData: { type: 'boolean', fieldName: 'show_test_data', defaultValue: false, input: false },
      },
    },
    session: {
      expiresIn: SESSION_COOKIE.lifetimeSeconds,
      updateAge: SESSION_RENEWED_AFTER_SECONDS,
      modelName: 'sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'accounts',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
  });
}
