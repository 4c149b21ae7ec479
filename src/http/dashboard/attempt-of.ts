import { createHash } from 'node:crypto';
import type { Attempt } from '../../db/attempts.ts';

/** The attempt that a request names, with what it asks for: the body without the name, and what the path is about. */
export function attemptOf(
  { attempt, ...asked }: { attempt?: string },
  params: Record<string, string> = {},
): Attempt | undefined {
  if (attempt === undefined) return undefined;
  return {
    name: attempt,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([params, asked]))
      .digest(),
  };
}
