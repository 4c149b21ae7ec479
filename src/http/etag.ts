import { createHash } from 'node:crypto';

/** An ETag made from the bytes. It is weak because it names all encodings of them. */
export function etagOf(content: Buffer | string): string {
  return `W/"${createHash('sha1').update(content).digest('base64url')}"`;
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
