import { createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../contract/domain-error.ts';

/** Which list a cursor belongs to. */
export type ListName = 'listings' | 'parts' | 'orders' | 'reservations' | 'events';

/** The cursor of pagination: where a page ended, and the filters it was made under. */
export type Cursor = {
  id: string;
  atMs: number;
  /** The `updated_after` or `created_after` of the first page. */
  sinceMs: number | null;
  /** The status or type filter of the first page, as it was sent, in canonical order. */
  filter: string | null;
};

export type Cursors = {
  encode(list: ListName, integrationId: string, cursor: Cursor): string;
  /** Throws `invalid_cursor` for anything that `encode` did not make for this list and integration. */
  decode(list: ListName, integrationId: string, text: string): Cursor;
};

const SIGNATURE_BYTES = 12;
const CURSOR_LENGTH_LIMIT = 1_000;

/** Cursors are signed with the first secret key and accepted with any of them, so they survive restarts and key rotation. */
export function createCursors(secretKeys: readonly string[]): Cursors {
  const [signingKey = '', ...olderKeys] = secretKeys;
  const sign = (key: string, list: ListName, integrationId: string, payload: string) =>
    createHmac('sha256', key)
      .update(`cursor ${list} ${integrationId} ${payload}`)
      .digest()
      .subarray(0, SIGNATURE_BYTES);

  return {
    encode(list, integrationId, { id, atMs, sinceMs, filter }) {
      const payload = JSON.stringify([id, atMs, sinceMs, filter]);
      return Buffer.concat([sign(signingKey, list, integrationId, payload), Buffer.from(payload)]).toString(
        'base64url',
      );
    },
    decode(list, integrationId, text) {
      // Only the one spelling that was sent is taken: base64 decoders would forgive others.
      const bytes = Buffer.from(text, 'base64url');
      if (
        text.length > CURSOR_LENGTH_LIMIT ||
        bytes.toString('base64url') !== text ||
        bytes.length <= SIGNATURE_BYTES
      ) {
        throw badCursor();
      }
      const payload = bytes.subarray(SIGNATURE_BYTES).toString();
      const given = bytes.subarray(0, SIGNATURE_BYTES);
      const isOurs = [signingKey, ...olderKeys].some((key) =>
        timingSafeEqual(sign(key, list, integrationId, payload), given),
      );
      if (!isOurs) throw badCursor();
      const [id, atMs, sinceMs, filter] = JSON.parse(payload) as [string, number, number | null, string | null];
      return { id, atMs, sinceMs, filter };
    },
  };
}

function badCursor(): DomainError {
  return new DomainError('invalid_cursor', 'The cursor in "after" is not one that this list returned.', 'after');
}
