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
  const wanted = opaque(etag);
  // A header may have thousands of tags. Hardly any of them is this one, and then none of them has to be taken apart.
  if (!header.includes(wanted)) return header.trim() === '*';
  return header.split(',').some((tag) => opaque(tag) === wanted);
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
