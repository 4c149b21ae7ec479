import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';

export const importRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.import(),
    component: lazyRouteComponent(() => import('./import-page.tsx'), 'ImportPage'),
  }),
];
