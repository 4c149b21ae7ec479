import { homeOperations } from './home.ts';
import { deliveryOperations } from './integrations/deliveries.ts';
import { eventOperations } from './integrations/events.ts';
import { integrationOperations } from './integrations/integrations.ts';
import { requestOperations } from './integrations/requests.ts';
import { liveOperations } from './live.ts';
import type { DashboardOperation } from './operation.ts';
import { customerOperations } from './orders/customers.ts';
import { orderOperations } from './orders/orders.ts';
import { reservationOperations } from './orders/reservations.ts';
import { saleOperations } from './orders/sales.ts';
import { auditOperations } from './organization/audit.ts';
import { organizationOperations } from './organization/organization.ts';
import { sessionOperations } from './organization/session.ts';
import { teamOperations } from './organization/team.ts';
import { searchOperations } from './search.ts';
import { bulkOperations } from './stock/bulk.ts';
import { importOperations } from './stock/imports.ts';
import { itemOperations } from './stock/items.ts';
import { jobOperations } from './stock/jobs.ts';
import { locationOperations } from './stock/locations.ts';
import { stockOperations } from './stock/stock.ts';
import { viewOperations } from './views.ts';

/**
 * All operations of the dashboard's API, one file for each area. A new file is added here and, with its handlers, in
 * src/http/dashboard/handlers.ts; an operation without a handler is a type error there.
 */
export const DASHBOARD_OPERATIONS = {
  ...sessionOperations,
  ...teamOperations,
  ...stockOperations,
  ...organizationOperations,
  ...locationOperations,
  ...auditOperations,
  ...integrationOperations,
  ...itemOperations,
  ...orderOperations,
  ...saleOperations,
  ...customerOperations,
  ...reservationOperations,
  ...requestOperations,
  ...homeOperations,
  ...liveOperations,
  ...jobOperations,
  ...bulkOperations,
  ...viewOperations,
  ...searchOperations,
  ...importOperations,
  ...deliveryOperations,
  ...eventOperations,
} satisfies Record<string, DashboardOperation>;

export type DashboardOperations = typeof DASHBOARD_OPERATIONS;
export type DashboardOperationId = keyof DashboardOperations;
