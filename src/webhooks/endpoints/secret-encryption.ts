import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts signing secrets for the database. The first of SECRET_KEYS encrypts; any of them decrypts. */
export type SecretEncryption = {
  encrypt(text: string): string;
  /** Throws if none of the keys fits. */
  decrypt(ciphertext: string): string;
  /** The same secret under the first key; null if that key encrypted it already. */
  reencrypt(ciphertext: string): string | null;
};

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 'v1.';
const CACHE_LIMIT = 10_000;

export function createSecretEncryption(secretKeys: readonly string[]): SecretEncryption {
  const keys = secretKeys.map((key) => createHash('sha256').update(`webhook secrets ${key}`).digest());
  const [firstKey] = keys;
  if (firstKey === undefined) throw new Error('there is no secret key to encrypt with');
  // Decrypting takes a few microseconds, but every delivery needs one of the same few secrets.
  const decrypted = new Map<string, string>();

  const encrypt = (text: string): string => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, firstKey, nonce);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  };

  function decrypt(ciphertext: string): string {
    const known = decrypted.get(ciphertext);
    if (known !== undefined) return known;
    const text = keys.map((key) => decryptWith(key, bytesOf(ciphertext))).find((found) => found !== null);
    if (text === undefined || text === null) {
      throw new Error('a stored secret cannot be decrypted with any of SECRET_KEYS');
    }
    if (decrypted.size >= CACHE_LIMIT) decrypted.clear();
    decrypted.set(ciphertext, text);
    return text;
  }

  return {
    encrypt,
    decrypt,
    reencrypt: (ciphertext) =>
      decryptWith(firstKey, bytesOf(ciphertext)) === null ? encrypt(decrypt(ciphertext)) : null,
  };
}

function bytesOf(ciphertext: string): Buffer {
  return Buffer.from(ciphertext.slice(PREFIX.length), 'base64url');
}

/** Null with another key than the one that encrypted it, and for bytes that somebody altered. */
function decryptWith(key: Buffer, bytes: Buffer): string | null {
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return null;
  }
}
