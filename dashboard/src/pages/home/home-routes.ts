import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { integrationsQuery } from '../integrations/integration-queries.ts';
import { orderChoicesQuery } from '../orders/order-queries.ts';
import { stockChoicesQuery } from '../stock/stock-queries.ts';
import { activityQuery, rangeOf, stockValueQuery } from './home-queries.ts';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.home(),
    loaderDeps: ({ search }) => ({ range: rangeOf(search) }),
    loader: ({ deps }) =>
      Promise.all([
        queryClient.ensureQueryData(stockChoicesQuery('listing')),
        queryClient.ensureQueryData(stockChoicesQuery('part')),
        queryClient.ensureQueryData(orderChoicesQuery({ test: 'hide' })),
        queryClient.ensureQueryData(integrationsQuery),
        queryClient.ensureQueryData(activityQuery(deps.range)),
        queryClient.ensureQueryData(stockValueQuery),
      ]),
    component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
  }),
];
