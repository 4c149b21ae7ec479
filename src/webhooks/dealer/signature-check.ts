import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { SecretEncryption } from '../endpoints/secret-encryption.ts';
import { signature } from '../sending/signature.ts';

/** The signature of an attempt, computed again. Neither it nor what was signed is ever stored with the attempt. */
export type SignatureCheck = {
  /** The value of X-SVC-Signature; null if it can't be computed any more. */
  header: string | null;
  /** How many secrets of that time exist still; each of them verified the signature. */
  verifiedWith: number;
  /** Why there is none. */
  problem: string | null;
};

/** Decrypted, and never shown. */
export type SigningSecret = { createdAt: Date; secret: string | null };

/** The clocks of a worker and of the database may differ by so much. */
const CLOCK_DIFFERENCE_MS = 1_000;

/** All that exist still, newest first. */
export async function readSigningSecrets(
  db: Queryable,
  encryption: SecretEncryption,
  integrationId: string,
): Promise<SigningSecret[]> {
  const rows = await db.query<{ createdAt: Date; ciphertext: string }>(sql`
    select created_at as "createdAt", ciphertext from webhook_secrets
    where integration_id = ${integrationId} and (expires_at is null or expires_at > clock_timestamp()) order by id desc`);
  return rows.map(({ createdAt, ciphertext }) => ({ createdAt, secret: decryptedOrNull(encryption, ciphertext) }));
}

/** Signs the same bytes for the same second with the secrets of that time, and verifies it as a receiver would. */
export function recomputeSignature(
  secrets: readonly SigningSecret[],
  startedAt: Date | null,
  body: string,
): SignatureCheck {
  const impossible = (problem: string): SignatureCheck => ({ header: null, verifiedWith: 0, problem });
  if (startedAt === null) return impossible('The second in which this attempt was signed was not recorded.');
  const latest = startedAt.getTime() + CLOCK_DIFFERENCE_MS;
  const ofThatTime = secrets.filter(({ createdAt }) => createdAt.getTime() <= latest);
  if (ofThatTime.length === 0) {
    return impossible(
      'The signing secret of that time was rotated away and has expired, so it can’t be computed again.',
    );
  }
  const usable = ofThatTime.flatMap(({ secret }) => secret ?? []);
  if (usable.length === 0) {
    return impossible('The signing secret can’t be decrypted with the keys that this service runs with.');
  }
  const header = signature(usable, Math.floor(startedAt.getTime() / 1000), body);
  const verifiedWith = usable.filter((secret) => isSignedBy(header, secret, body)).length;
  return { header, verifiedWith, problem: null };
}

/** As the documentation tells receivers: `t` and the body under the secret are among the signatures. */
function isSignedBy(header: string, secret: string, body: string): boolean {
  const parts = header.split(',').map((part) => part.split('=', 2));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function decryptedOrNull(encryption: SecretEncryption, ciphertext: string): string | null {
  try {
    return encryption.decrypt(ciphertext);
  } catch {
    return null;
  }
}
