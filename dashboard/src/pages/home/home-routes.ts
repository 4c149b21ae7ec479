import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { integrationsQuery } from '../integrations/integration-queries.ts';
import { orderChoicesQuery } from '../orders/order-queries.ts';
import { stockChoicesQuery } from '../stock/stock-queries.ts';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.home(),
    loader: () =>
      Promise.all([
        queryClient.ensureQueryData(stockChoicesQuery('listing')),
        queryClient.ensureQueryData(stockChoicesQuery('part')),
        queryClient.ensureQueryData(orderChoicesQuery({ test: 'hide' })),
        queryClient.ensureQueryData(integrationsQuery),
      ]),
    component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
  }),
];
