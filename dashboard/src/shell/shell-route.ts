import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { ApiFailure } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { paths } from '../paths.ts';
import { RouteError, RouteMissing } from './route-states.tsx';
import { sessionQuery } from './session/session.ts';

export const rootRoute = createRootRoute({ errorComponent: RouteError, notFoundComponent: RouteMissing });

/** The frame around every page of somebody who is signed in; pages are its children. Others are sent to sign in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  errorComponent: RouteError,
  async beforeLoad({ location }) {
    await queryClient.ensureQueryData(sessionQuery).catch((error: unknown) => {
      if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
      throw redirect({ to: paths.signIn(), search: { next: location.href } });
    });
  },
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});
