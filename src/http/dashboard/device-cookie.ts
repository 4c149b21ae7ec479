import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isSecure, SESSION_COOKIE } from '../../dealers/users/session-cookie.ts';
import { accountOf } from '../../dealers/users/sign-in-attempts.ts';

/**
 * Marks a browser in which somebody has signed in to an account. Its attempts are counted apart from those of strangers, because
 * whoever knows an email could otherwise keep its person out with wrong passwords. The cookie gives no other right. It has the
 * account in its name, because the people of a shop may share a browser, and ends with the password: whoever had that one knows
 * nothing of the next.
 */
export type DeviceCookies = {
  /** The device that the cookies of a request prove for an account; null if they prove none. */
  deviceOf(cookieHeader: string | undefined, account: SignInAccount): string | null;
  /** The `Set-Cookie` for a device, which may be new. */
  setCookie(account: SignInAccount, device: string | null): string;
};

/** `passwordHash`: null if there is no such account. */
export type SignInAccount = { email: string; passwordHash: string | null };

const LIFETIME_SECONDS = 180 * 24 * 3_600;
/** Sent to sign in, and to little else. */
const PATH = '/api/dashboard/session';
const DEVICE_BYTES = 16;
const NAME_BYTES = 8;
/** Of a cookie's value: a device and its signature. */
const VALUE = /^([\w-]{22})\.([\w-]{43})$/;

/** Signed with the first secret key and accepted with any of them, so that a new key makes no stranger of a browser. */
export function createDeviceCookies(secretKeys: readonly string[], publicUrl: string): DeviceCookies {
  const prefix = `${isSecure(publicUrl) ? '__Secure-' : ''}${SESSION_COOKIE.prefix}.device_`;

  function nameFor(email: string): string {
    return `${prefix}${createHash('sha256').update(email).digest().toString('hex', 0, NAME_BYTES)}`;
  }

  function sign(secretKey: string, { email, passwordHash }: SignInAccount, device: string): Buffer {
    return createHmac('sha256', secretKey).update(`device\n${email}\n${device}\n${passwordHash}`).digest();
  }

  return {
    deviceOf(cookieHeader = '', { email, passwordHash }) {
      if (passwordHash === null) return null;
      const account = { email: accountOf(email), passwordHash };
      const start = `${nameFor(account.email)}=`;
      const cookie = cookieHeader.split(';').find((each) => each.trimStart().startsWith(start));
      const [, device = '', signature = ''] = VALUE.exec(cookie?.trim().slice(start.length) ?? '') ?? [];
      if (device === '') return null;
      const given = Buffer.from(signature, 'base64url');
      return secretKeys.some((key) => timingSafeEqual(sign(key, account, device), given)) ? device : null;
    },

    setCookie({ email, passwordHash }, known) {
      const account = { email: accountOf(email), passwordHash };
      const device = known ?? randomBytes(DEVICE_BYTES).toString('base64url');
      const signature = sign(secretKeys[0] ?? '', account, device).toString('base64url');
      const attributes = `Max-Age=${LIFETIME_SECONDS}; Path=${PATH}; HttpOnly; SameSite=Lax`;
      const secure = isSecure(publicUrl) ? '; Secure' : '';
      return `${nameFor(account.email)}=${device}.${signature}; ${attributes}${secure}`;
    },
  };
}
