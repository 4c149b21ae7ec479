import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { businessQuery, locationsQuery, mailChoiceQuery, sessionsQuery, teamQuery } from './settings-queries.ts';

/** A further tab is a route here and a line in settings-tabs.tsx. */
export const settingsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.settings(),
    beforeLoad() {
      throw redirect({ to: paths.business(), replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.account(),
    loader: () =>
      Promise.all([queryClient.ensureQueryData(sessionsQuery), queryClient.ensureQueryData(mailChoiceQuery)]),
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.team(),
    loader: () => queryClient.ensureQueryData(teamQuery),
    component: lazyRouteComponent(() => import('./team-page.tsx'), 'TeamPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.business(),
    loader: () => queryClient.ensureQueryData(businessQuery),
    component: lazyRouteComponent(() => import('./business-page.tsx'), 'BusinessPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.locations(),
    loader: () => queryClient.ensureQueryData(locationsQuery),
    component: lazyRouteComponent(() => import('./locations-page.tsx'), 'LocationsPage'),
  }),
];
