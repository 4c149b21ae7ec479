/** Which folder owns a table: only its SQL names the table, but for the exceptions below. Views count as tables. */
export const OWNERS: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_log', 'audit_log_objects'],
  webhooks: [
    'events',
    'deliveries',
    'replay_jobs',
    'webhook_endpoints',
    'webhook_receivers',
    'webhook_secrets',
    'webhook_switches',
    'webhook_workers',
  ],
  channel: ['channel_clocks', 'channel_documents', 'channel_jobs'],
  dealers: [
    'organizations',
    'users',
    'sessions',
    'accounts',
    'verifications',
    'integrations',
    'integration_usage',
    'exchange_rates',
    'deletion_jobs',
    'sign_in_links',
    'sign_in_attempts',
  ],
  inventory: [
    'items',
    'photos',
    'removed_photos',
    'promotions',
    'publications',
    'business_units',
    'locations',
    'installation',
  ],
  customers: ['customers', 'customer_external_ids', 'test_customers'],
  sales: ['orders', 'order_lines', 'sales'],
  http: ['idempotency_records', 'rate_windows', 'storage_usage'],
};

/** A file that names tables of another folder, and why. `writes` also allows reading. */
export type Exception = { file: string; reads?: readonly string[]; writes?: readonly string[]; reason: string };

export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'audit/record-audit.ts',
    reads: ['integrations'],
    reason: 'Finds the organization of an integration in the statement that records the change.',
  },
  {
    file: 'webhooks/endpoints/endpoint-status.ts',
    reads: ['integrations', 'organizations'],
    reason: 'Says why nothing is sent; the reasons are settings of the dealer and of the operator.',
  },
  {
    file: 'webhooks/endpoints/read-endpoint.ts',
    reads: ['integrations'],
    reason: 'The endpoint of an integration, with its mode and version.',
  },
  {
    file: 'channel/projection/sources.ts',
    reads: [
      'integrations',
      'organizations',
      'exchange_rates',
      'items',
      'photos',
      'promotions',
      'publications',
      'business_units',
      'locations',
      'webhook_endpoints',
      'webhook_receivers',
    ],
    reason: 'Reads everything that stands in a document, in as few statements as there are shapes.',
  },
  {
    file: 'channel/projection/project-items.ts',
    reads: ['publications'],
    reason: 'Which channels ever had an item.',
  },
  {
    file: 'channel/projection/preview-item.ts',
    reads: ['events'],
    reason: 'Which event announced what the client reads now.',
  },
  {
    file: 'channel/jobs/job-queue.ts',
    reads: ['integrations', 'publications'],
    reason: 'How far a job is; jobs of a detached integration wait.',
  },
  {
    file: 'channel/jobs/run-jobs.ts',
    reads: ['integrations', 'publications'],
    reason: 'Walks along what is published on a channel.',
  },
  {
    file: 'channel/projection/due-promotions.ts',
    reads: ['integrations'],
    reason: 'Only attached channels are kept up to date.',
  },
  {
    file: 'channel/reads/read-documents.ts',
    reads: ['integrations'],
    reason: 'The pinned version, in the read itself.',
  },
  {
    file: 'channel/roll.ts',
    writes: ['integrations'],
    reason: 'The pin of the version moves in the commit of the last rendered document.',
  },
  {
    file: 'dealers/integrations/admission.ts',
    reads: ['channel_clocks'],
    reason: 'One lookup for everything a request needs.',
  },
  {
    file: 'dealers/integrations/integration-profile.ts',
    reads: ['webhook_endpoints'],
    reason: 'The integration as its client reads it.',
  },
  {
    file: 'dealers/integrations/integrations.ts',
    reads: ['publications', 'orders', 'events', 'customer_external_ids', 'idempotency_records'],
    writes: ['channel_clocks', 'webhook_endpoints'],
    reason: 'An integration is made with its clock and endpoint, and attached only if it holds no other dealer’s data.',
  },
  {
    file: 'dealers/deletions.ts',
    writes: ['webhook_endpoints'],
    reason: 'An integration that is being deleted sends nothing more, from the commit of the request on.',
  },
  {
    file: 'live/announce-integrations.ts',
    reads: ['integrations'],
    reason: 'Whose channel it is that has new events.',
  },
  {
    file: 'http/dashboard/sessions.ts',
    reads: ['users', 'accounts', 'sessions', 'organizations'],
    reason: 'A session is read with its user, role and organization, for every request of the dashboard.',
  },
  { file: 'http/dashboard/badges.ts', reads: ['orders'], reason: 'Counts what waits, for the navigation.' },
  {
    file: 'inventory/locations.ts',
    reads: ['organizations'],
    reason: 'A business unit is made only for an organization that exists.',
  },
  {
    file: 'inventory/movements.ts',
    reads: ['order_lines'],
    reason: 'What orders hold can’t be released by hand.',
  },
  { file: 'inventory/publications.ts', reads: ['integrations'], reason: 'The channel must be the dealer’s.' },
  {
    file: 'inventory/stock-list.ts',
    reads: ['integrations', 'channel_documents'],
    reason: 'The list of stock shows on which channels an item is, and as what.',
  },
  { file: 'sales/orders/order-rows.ts', writes: ['items'], reason: 'Units move with the order, in its transaction.' },
  {
    file: 'sales/orders/order-stock.ts',
    reads: ['publications'],
    writes: ['items'],
    reason: 'Orders hold units, many at once.',
  },
  {
    file: 'sales/delete-item.ts',
    reads: ['items'],
    reason: 'Orders let go of an item in the transaction of its deletion.',
  },
  {
    file: 'sales/deletion/remove-orders.ts',
    reads: ['integrations'],
    writes: ['items'],
    reason: 'What the orders of a deleted integration held is free again.',
  },
  {
    file: 'sales/deletion/run-deletions.ts',
    writes: ['integrations', 'organizations', 'deletion_jobs'],
    reason: 'Works off what dealers/deletions.ts queued; its last step deletes the row itself.',
  },
  { file: 'sales/assign-customer.ts', reads: ['customers'], reason: 'The customer must be the dealer’s.' },
  {
    file: 'sales/merge-customers.ts',
    writes: ['customers', 'customer_external_ids', 'test_customers'],
    reason: 'Merging changes customers and their orders in one transaction.',
  },
  {
    file: 'sales/test-data.ts',
    reads: ['integrations'],
    writes: ['customers', 'customer_external_ids', 'test_customers', 'idempotency_records'],
    reason: 'Deletes everything that an integration made in test mode.',
  },
  { file: 'demo/demo.ts', reads: ['users', 'accounts', 'integrations'], reason: 'Finds the demo that is there.' },
  { file: 'demo/stock.ts', writes: ['channel_jobs', 'photos'], reason: 'Drawn photos need no upload, and no job.' },
  {
    file: 'demo/generate.ts',
    writes: ['items', 'photos', 'publications'],
    reason: 'A hundred thousand items for measuring, without an event for each.',
  },
];
