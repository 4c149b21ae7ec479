import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { itemChoicesQuery, itemQuery } from './item-queries.ts';

const loader = ({ params }: { params: { id: string } }) => queryClient.ensureQueryData(itemQuery(params.id));
const itemPage = lazyRouteComponent(() => import('./item-page.tsx'), 'ItemPage');

export const itemRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: `${paths.watches()}/new`,
    loader: () => queryClient.ensureQueryData(itemChoicesQuery('listing')),
    component: lazyRouteComponent(() => import('./new-item-page.tsx'), 'NewWatchPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: `${paths.parts()}/new`,
    loader: () => queryClient.ensureQueryData(itemChoicesQuery('part')),
    component: lazyRouteComponent(() => import('./new-item-page.tsx'), 'NewPartPage'),
  }),
  createRoute({ getParentRoute: () => shellRoute, path: `${paths.watches()}/$id`, loader, component: itemPage }),
  createRoute({ getParentRoute: () => shellRoute, path: `${paths.parts()}/$id`, loader, component: itemPage }),
];
