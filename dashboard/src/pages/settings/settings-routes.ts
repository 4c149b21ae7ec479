import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { sessionsQuery, teamQuery } from './settings-queries.ts';

/** A further tab is a route here and a line in settings-tabs.tsx. */
export const settingsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.settings(),
    beforeLoad() {
      throw redirect({ to: paths.account(), replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.account(),
    loader: () => queryClient.ensureQueryData(sessionsQuery),
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.team(),
    loader: () => queryClient.ensureQueryData(teamQuery),
    component: lazyRouteComponent(() => import('./team-page.tsx'), 'TeamPage'),
  }),
];
