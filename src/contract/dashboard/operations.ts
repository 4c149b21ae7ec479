import { auditOperations } from './audit.ts';
import { bulkOperations } from './bulk.ts';
import { customerOperations } from './customers.ts';
import { deliveryOperations } from './deliveries.ts';
import { eventOperations } from './events.ts';
import { homeOperations } from './home.ts';
import { importOperations } from './imports.ts';
import { integrationOperations } from './integrations.ts';
import { itemOperations } from './items.ts';
import { jobOperations } from './jobs.ts';
import { liveOperations } from './live.ts';
import { locationOperations } from './locations.ts';
import type { DashboardOperation } from './operation.ts';
import { orderOperations } from './orders.ts';
import { organizationOperations } from './organization.ts';
import { requestOperations } from './requests.ts';
import { reservationOperations } from './reservations.ts';
import { saleOperations } from './sales.ts';
import { searchOperations } from './search.ts';
import { sessionOperations } from './session.ts';
import { stockOperations } from './stock.ts';
import { teamOperations } from './team.ts';
import { viewOperations } from './views.ts';

/**
 * Everything that the dashboard can ask of the service, one file for each room. A new file is added here and, with its
 * handlers, in src/http/dashboard/handlers.ts; an operation without a handler is a type error there.
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
