import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts what must not lie in the database in the clear. The first secret key seals, any opens. */
export type SealedBox = {
  seal(text: string): string;
  open(sealed: string): string;
  /** The same under the key that seals now; null if it is that already. */
  sealAnew(sealed: string): string | null;
};

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 'v1.';
const OPENED_LIMIT = 10_000;

export function createSealedBox(secretKeys: readonly string[]): SealedBox {
  const keys = secretKeys.map((key) => createHash('sha256').update(`webhook secrets ${key}`).digest());
  const [sealingKey] = keys;
  if (sealingKey === undefined) throw new Error('there is no secret key to seal with');
  // Opening costs a few microseconds, but the sender asks for the same few secrets with every delivery.
  const opened = new Map<string, string>();

  const seal = (text: string): string => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, sealingKey, nonce);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  };

  function open(sealed: string): string {
    const known = opened.get(sealed);
    if (known !== undefined) return known;
    const text = keys.map((key) => openWith(key, bytesOf(sealed))).find((found) => found !== null);
    if (text === undefined || text === null) {
      throw new Error('a stored secret cannot be opened with any of SECRET_KEYS');
    }
    if (opened.size >= OPENED_LIMIT) opened.clear();
    opened.set(sealed, text);
    return text;
  }

  return {
    seal,
    open,
    sealAnew: (sealed) => (openWith(sealingKey, bytesOf(sealed)) === null ? seal(open(sealed)) : null),
  };
}

function bytesOf(sealed: string): Buffer {
  return Buffer.from(sealed.slice(PREFIX.length), 'base64url');
}

/** Null with another key than the one that sealed it, and for bytes that somebody altered. */
function openWith(key: Buffer, bytes: Buffer): string | null {
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return null;
  }
}
