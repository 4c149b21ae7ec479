import type { DashboardOperations } from '../../contract/dashboard/operations.ts';
import type { Handlers } from './call.ts';
import { homeHandlers } from './routes/home.ts';
import { deliveryHandlers } from './routes/integrations/deliveries.ts';
import { eventHandlers } from './routes/integrations/events.ts';
import { integrationHandlers } from './routes/integrations/integrations.ts';
import { requestHandlers } from './routes/integrations/requests.ts';
import { liveHandlers } from './routes/live.ts';
import { customerHandlers } from './routes/orders/customers.ts';
import { orderHandlers } from './routes/orders/orders.ts';
import { reservationHandlers } from './routes/orders/reservations.ts';
import { saleHandlers } from './routes/orders/sales.ts';
import { auditHandlers } from './routes/organization/audit.ts';
import { organizationHandlers } from './routes/organization/organization.ts';
import { sessionHandlers } from './routes/organization/session.ts';
import { teamHandlers } from './routes/organization/team.ts';
import { searchHandlers } from './routes/search.ts';
import { bulkHandlers } from './routes/stock/bulk.ts';
import { importHandlers } from './routes/stock/imports.ts';
import { itemHandlers } from './routes/stock/items.ts';
import { jobHandlers } from './routes/stock/jobs.ts';
import { locationHandlers } from './routes/stock/locations.ts';
import { stockHandlers } from './routes/stock/stock.ts';
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
