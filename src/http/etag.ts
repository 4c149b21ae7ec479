/**
 * Whether a client has what an ETag names already. The comparison is the weak one, as If-None-Match asks for: a cache on
 * the way may have made a strong tag of a weak one, or a weak one of a strong one.
 */
export function isMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
