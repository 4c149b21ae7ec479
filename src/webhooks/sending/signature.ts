import { createHmac } from 'node:crypto';

/** The value of X-SVC-Signature: the time and one signature for each secret that is valid now. */
export function signature(secrets: readonly string[], timestampSeconds: number, body: string): string {
  const signed = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${timestampSeconds}.`).update(body).digest('hex')}`,
  );
  return [`t=${timestampSeconds}`, ...signed].join(',');
}
