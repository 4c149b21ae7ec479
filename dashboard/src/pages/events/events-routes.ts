import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { eventChoicesQuery, eventQuery } from './event-queries.ts';

export const eventsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.events(),
    loader: () => queryClient.ensureQueryData(eventChoicesQuery),
    component: lazyRouteComponent(() => import('./events-page.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.event('$id'),
    loader: ({ params }) => queryClient.ensureQueryData(eventQuery(idInAddress('event', params))),
    component: lazyRouteComponent(() => import('./event-page.tsx'), 'EventPage'),
  }),
];
