import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { conflictsQuery, customerOrdersQuery, customerQuery, erasuresQuery } from './customer-queries.ts';

export const customersRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.customers(),
    loader: () =>
      Promise.all([queryClient.ensureQueryData(conflictsQuery({})), queryClient.ensureQueryData(erasuresQuery)]),
    component: lazyRouteComponent(() => import('./customers-page.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: `${paths.customers()}/$id`,
    loader: ({ params }) => {
      const id = idInAddress('customer', params);
      void queryClient.prefetchQuery(customerOrdersQuery(id));
      return queryClient.ensureQueryData(customerQuery(id));
    },
    component: lazyRouteComponent(() => import('./customer-page.tsx'), 'CustomerPage'),
  }),
];
