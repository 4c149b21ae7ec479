import { useSuspenseQuery } from '@tanstack/react-query';
import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';

export const sessionQuery = read('GET /session', {}, ['account', 'team', 'organization']);

export type Session = Output<'GET /session'>;

/** Who is signed in. Only below the shell, which has read it. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data;
}

/** For buttons that only owners may use: disabled with this reason, not hidden. Null if the person may. */
export function useOwnerOnlyReason(): string | null {
  return useSession().user.role === 'owner' ? null : 'Only owners may do this.';
}

/** A role as a word that begins a line or stands by itself. */
export const ROLE_LABELS = { owner: 'Owner', staff: 'Staff' } as const;
