import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.home(),
    component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
  }),
];
