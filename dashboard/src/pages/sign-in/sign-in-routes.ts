import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient, read } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { rootRoute } from '../../shell/shell-route.ts';

export const signInOptionsQuery = read('GET /sign-in-options', {}, []);

/** Pages for people who are not signed in. */
export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: paths.signIn(),
    loader: () => queryClient.ensureQueryData(signInOptionsQuery),
    component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: paths.signUp(),
    loader: () => queryClient.ensureQueryData(signInOptionsQuery),
    component: lazyRouteComponent(() => import('./sign-up-page.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: paths.invitation(),
    component: lazyRouteComponent(() => import('./link-pages.tsx'), 'InvitationPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: paths.reset(),
    component: lazyRouteComponent(() => import('./link-pages.tsx'), 'ResetPage'),
  }),
];
