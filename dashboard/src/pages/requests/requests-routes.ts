import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { requestIdInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { requestChoicesQuery, requestQuery } from './request-queries.ts';

export const requestsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.requests(),
    loader: () => queryClient.ensureQueryData(requestChoicesQuery()),
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: `${paths.requests()}/$id`,
    loader: ({ params }) => queryClient.ensureQueryData(requestQuery(requestIdInAddress(params))),
    component: lazyRouteComponent(() => import('./request-page.tsx'), 'RequestPage'),
  }),
];
