import { paths } from '../../paths.ts';
import type { IconName } from '../../ui/icons.tsx';

/**
 * The entries of the navigation, in their order. A page that is not built yet has none: whoever builds it adds its line.
 * `letter` is its shortcut after "g"; `badge` names its count in GET /badges.
 */
export type NavigationEntry = { path: string; label: string; icon: IconName; letter: string; badge?: string };

export const NAVIGATION: readonly NavigationEntry[] = [
  { path: paths.home(), label: 'Home', icon: 'home', letter: 'h' },
  { path: paths.watches(), label: 'Watches', icon: 'watch', letter: 'w' },
  { path: paths.parts(), label: 'Parts', icon: 'part', letter: 'p' },
  { path: paths.orders(), label: 'Orders', icon: 'order', letter: 'o', badge: 'orders' },
  { path: paths.sales(), label: 'Sales', icon: 'sale', letter: 's' },
  { path: paths.customers(), label: 'Customers', icon: 'customer', letter: 'c', badge: 'customers' },
  { path: paths.integrations(), label: 'Integrations', icon: 'integration', letter: 'i', badge: 'integrations' },
  { path: paths.deliveries(), label: 'Deliveries', icon: 'delivery', letter: 'd', badge: 'deliveries' },
  { path: paths.events(), label: 'Events', icon: 'event', letter: 'e' },
  { path: paths.requests(), label: 'Requests', icon: 'request', letter: 'r' },
  { path: paths.import(), label: 'Import', icon: 'import', letter: 'm' },
  { path: paths.jobs(), label: 'Jobs', icon: 'job', letter: 'j' },
  { path: paths.audit(), label: 'Audit', icon: 'audit', letter: 'a' },
  { path: paths.settings(), label: 'Settings', icon: 'settings', letter: ',' },
];
