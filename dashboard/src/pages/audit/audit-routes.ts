import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { teamQuery } from '../settings/settings-queries.ts';

export const auditRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.audit(),
    loader: () => queryClient.ensureQueryData(teamQuery),
    component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
  }),
];
