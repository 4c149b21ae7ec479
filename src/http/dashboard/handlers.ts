import type { DashboardOperations } from '../../contract/dashboard/operations.ts';
import type { Handlers } from './call.ts';
import { auditHandlers } from './routes/audit.ts';
import { bulkHandlers } from './routes/bulk.ts';
import { customerHandlers } from './routes/customers.ts';
import { deliveryHandlers } from './routes/deliveries.ts';
import { eventHandlers } from './routes/events.ts';
import { homeHandlers } from './routes/home.ts';
import { importHandlers } from './routes/imports.ts';
import { integrationHandlers } from './routes/integrations.ts';
import { itemHandlers } from './routes/items.ts';
import { jobHandlers } from './routes/jobs.ts';
import { liveHandlers } from './routes/live.ts';
import { locationHandlers } from './routes/locations.ts';
import { orderHandlers } from './routes/orders.ts';
import { organizationHandlers } from './routes/organization.ts';
import { requestHandlers } from './routes/requests.ts';
import { reservationHandlers } from './routes/reservations.ts';
import { saleHandlers } from './routes/sales.ts';
import { searchHandlers } from './routes/search.ts';
import { sessionHandlers } from './routes/session.ts';
import { stockHandlers } from './routes/stock.ts';
import { teamHandlers } from './routes/team.ts';
import { viewHandlers } from './routes/views.ts';

/** A handler for each operation; one that is missing or too many is a type error here. */
export const handlers: Handlers<DashboardOperations> = {
  ...sessionHandlers,
  ...teamHandlers,
  ...stockHandlers,
  ...organizationHandlers,
  ...locationHandlers,
  ...auditHandlers,
  ...integrationHandlers,
  ...itemHandlers,
  ...orderHandlers,
  ...saleHandlers,
  ...customerHandlers,
  ...reservationHandlers,
  ...requestHandlers,
  ...homeHandlers,
  ...liveHandlers,
  ...jobHandlers,
  ...bulkHandlers,
  ...viewHandlers,
  ...searchHandlers,
  ...importHandlers,
  ...deliveryHandlers,
  ...eventHandlers,
};
