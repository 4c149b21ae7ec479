import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { saleChoicesQuery } from './sales-queries.ts';

export const salesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.sales(),
    loader: () => queryClient.ensureQueryData(saleChoicesQuery({})),
    component: lazyRouteComponent(() => import('./sales-page.tsx'), 'SalesPage'),
  }),
];
