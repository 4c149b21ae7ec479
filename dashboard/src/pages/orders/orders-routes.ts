import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { orderChoicesQuery, orderQuery, timelineQuery } from './order-queries.ts';

export const ordersRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.orders(),
    loader: () => queryClient.ensureQueryData(orderChoicesQuery({})),
    component: lazyRouteComponent(() => import('./orders-page.tsx'), 'OrdersPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: `${paths.orders()}/$id`,
    loader: ({ params }) => {
      const id = idInAddress('order', params);
      void queryClient.prefetchQuery(timelineQuery(id));
      return queryClient.ensureQueryData(orderQuery(id));
    },
    component: lazyRouteComponent(() => import('./order-page.tsx'), 'OrderPage'),
  }),
];
