import { createHash } from 'node:crypto';

/** An ETag for all encodings of the same content. It is weak, because their bytes differ. */
export function weakEtagOf(content: Buffer | string): string {
  return `W/${strongEtagOf(content)}`;
}

/** An ETag for exactly these bytes, in the encoding in which they are sent. */
export function strongEtagOf(bytes: Buffer | string): string {
  return `"${createHash('sha1').update(bytes).digest('base64url')}"`;
}

/**
 * Whether the client already has what an ETag names. The comparison is the weak one, as If-None-Match requires: a cache
 * in between may have made a weak tag strong, or a strong one weak.
 */
export function isMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
