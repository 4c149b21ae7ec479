import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { deliveryChoicesQuery, deliveryQuery } from './delivery-queries.ts';

export const deliveriesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.deliveries(),
    loader: () => queryClient.ensureQueryData(deliveryChoicesQuery({})),
    component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.delivery('$id'),
    loader: ({ params }) => queryClient.ensureQueryData(deliveryQuery(idInAddress('delivery', params))),
    component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
];
