/** Every address of the dashboard. Links and tests take them from here, never written out. */
export const paths = {
  home: () => '/',
  signIn: () => '/sign-in',
  signUp: () => '/sign-up',
  invitation: () => '/invitation',
  reset: () => '/reset',
  watches: () => '/watches',
  parts: () => '/parts',
  /** A watch or a part. */
  item: (id: string) => (id.startsWith('prt_') ? `/parts/${id}` : `/watches/${id}`),
  newItem: (kind: 'listing' | 'part') => (kind === 'part' ? '/parts/new' : '/watches/new'),
  orders: () => '/orders',
  order: (id: string) => `/orders/${id}`,
  sales: () => '/sales',
  customers: () => '/customers',
  customer: (id: string) => `/customers/${id}`,
  integrations: () => '/integrations',
  newIntegration: () => '/integrations/new',
  integration: (id: string) => `/integrations/${id}`,
  deliveries: () => '/deliveries',
  delivery: (id: string) => `/deliveries/${id}`,
  events: () => '/events',
  event: (id: string) => `/events/${id}`,
  requests: () => '/requests',
  request: (id: string) => `/requests/${id}`,
  import: () => '/import',
  jobs: () => '/jobs',
  job: (id: string) => `/jobs/${id}`,
  audit: () => '/audit',
  settings: () => '/settings',
  account: () => '/settings/account',
  team: () => '/settings/team',
  business: () => '/settings/business',
  locations: () => '/settings/locations',
} as const;

/** The page of whatever an id names; null if the id says nothing, or has no page. */
export function pathOfId(id: string): string | null {
  const [prefix = ''] = id.split('_', 1);
  const byPrefix: Record<string, (id: string) => string> = {
    lst: paths.item,
    prt: paths.item,
    ord: paths.order,
    cus: paths.customer,
    int: paths.integration,
    dlv: paths.delivery,
    evt: paths.event,
    req: paths.request,
    job: paths.job,
  };
  return byPrefix[prefix]?.(id) ?? null;
}
