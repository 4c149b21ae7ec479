/** The cookie of a session: no script can read it, and no page of another site can send it with a write. */
export const SESSION_COOKIE = {
  prefix: 'crownwheel',
  lifetimeSeconds: 14 * 24 * 3_600,
  attributes: { httpOnly: true, sameSite: 'lax', path: '/' },
} as const;

/** The name of the session cookie, as the sign-in library forms it: with a prefix of its own if only https may carry it. */
export function sessionCookieName(publicUrl: string): string {
  return `${isSecure(publicUrl) ? '__Secure-' : ''}${SESSION_COOKIE.prefix}.session_token`;
}

export function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
