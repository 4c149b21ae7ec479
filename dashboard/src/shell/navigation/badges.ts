import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/queries.ts';
import { NAVIGATION } from './navigation.ts';

const badgesQuery = read('GET /badges', {}, ['order', 'customer', 'delivery', 'integration', 'job', 'organization']);

/** What needs attention, by the `badge` of a navigation entry. */
export function useBadges(): Record<string, number> {
  return useQuery({ ...badgesQuery, throwOnError: false }).data?.counts ?? {};
}

/** The enabled integrations that are in test mode. */
export function useTestChannels(): { id: string; name: string }[] {
  return useQuery({ ...badgesQuery, throwOnError: false }).data?.test_channels ?? [];
}

/** For the page's title: what waits on the pages that are there. */
export function useBadgeTotal(): number {
  const counts = useBadges();
  return NAVIGATION.reduce((total, { badge }) => total + (badge === undefined ? 0 : (counts[badge] ?? 0)), 0);
}
