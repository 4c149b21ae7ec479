import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';
import { queryClient } from '../api/queries.ts';

/**
 * Reads again what failed while the service was out of reach or nobody was signed in. A page that could not be opened
 * watches no query any more, so that reading anew what is on the page would leave its error there.
 */
export function useRecover(): () => Promise<void> {
  const router = useRouter();
  return useCallback(async () => {
    const failed = { predicate: ({ state }: { state: { status: string } }) => state.status === 'error' };
    if (queryClient.getQueryCache().findAll(failed).length === 0) return;
    await queryClient.refetchQueries(failed);
    await router.invalidate();
  }, [router]);
}
