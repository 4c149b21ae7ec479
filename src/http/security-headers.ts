/**
 * Sent with every response. Pages of our own loosen the content policy for themselves. CORS: only photos may be read by
 * pages of other origins (`photos/routes.ts`). Everything else has no CORS headers, because an API key belongs on a
 * server, and the dashboard has the same origin as its API.
 *
 * Names of headers that every response carries are in small letters here and elsewhere, as they are sent: converting
 * them each time was the most expensive part of a cached read, after the sending itself.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
