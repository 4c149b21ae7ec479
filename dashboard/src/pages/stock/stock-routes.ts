import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { type Kind, stockChoicesQuery } from './stock-queries.ts';

const loaderOf = (kind: Kind) => () => queryClient.ensureQueryData(stockChoicesQuery(kind));

export const stockRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.watches(),
    loader: loaderOf('listing'),
    component: lazyRouteComponent(() => import('./stock-page.tsx'), 'WatchesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.parts(),
    loader: loaderOf('part'),
    component: lazyRouteComponent(() => import('./stock-page.tsx'), 'PartsPage'),
  }),
];
