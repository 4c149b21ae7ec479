import { createRoute, createRouter } from '@tanstack/react-router';
import { BASE_PATH } from './api/client.ts';
import { auditRoutes } from './pages/audit/audit-routes.ts';
import { customersRoutes } from './pages/customers/customers-routes.ts';
import { deliveriesRoutes } from './pages/deliveries/deliveries-routes.ts';
import { eventsRoutes } from './pages/events/events-routes.ts';
import { homeRoutes } from './pages/home/home-routes.ts';
import { importRoutes } from './pages/import/import-routes.ts';
import { integrationsRoutes } from './pages/integrations/integrations-routes.ts';
import { itemRoutes } from './pages/item/item-routes.ts';
import { jobsRoutes } from './pages/jobs/jobs-routes.ts';
import { ordersRoutes } from './pages/orders/orders-routes.ts';
import { requestsRoutes } from './pages/requests/requests-routes.ts';
import { salesRoutes } from './pages/sales/sales-routes.ts';
import { settingsRoutes } from './pages/settings/settings-routes.ts';
import { signInRoutes } from './pages/sign-in/sign-in-routes.ts';
import { stockRoutes } from './pages/stock/stock-routes.ts';
import { PageMissing, RouteError, RouteMissing } from './shell/route-states.tsx';
import { rootRoute, shellRoute } from './shell/shell-route.ts';
import { PageSkeleton } from './ui/page/states.tsx';

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  // Pages of whoever is signed in: each area brings its routes in pages/<area>/<area>-routes.ts.
  shellRoute.addChildren([
    ...homeRoutes,
    ...stockRoutes,
    ...itemRoutes,
    ...importRoutes,
    ...jobsRoutes,
    ...ordersRoutes,
    ...salesRoutes,
    ...customersRoutes,
    ...integrationsRoutes,
    ...deliveriesRoutes,
    ...eventsRoutes,
    ...requestsRoutes,
    ...auditRoutes,
    ...settingsRoutes,
    // Every other address, so that the navigation stays around "not found".
    createRoute({ getParentRoute: () => shellRoute, path: '$', component: PageMissing }),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: BASE_PATH === '' ? '/' : BASE_PATH,
  defaultPreload: 'intent',
  // The query cache knows what is fresh; the router asks it each time.
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: RouteMissing,
  defaultPendingComponent: PageSkeleton,
  scrollRestoration: true,
  // All texts, as people write addresses by hand; the router's own form would put quotes around numbers.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
});
