import type { IncomingMessage } from 'node:http';
import { HEADERS_LIMIT } from '../../contract/limits.ts';

/**
 * Node makes an object of as many headers as the limit allows and leaves the others out, which must not decide what a request
 * means: so it is refused. They are read in portions of 32, and the one that exceeds the limit is still listed here.
 */
export function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length > 2 * HEADERS_LIMIT;
}
