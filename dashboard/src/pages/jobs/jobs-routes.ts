import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { jobQuery } from './jobs-queries.ts';

export const jobsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.jobs(),
    component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.job('$id'),
    loader: ({ params }) => queryClient.ensureQueryData(jobQuery(idInAddress('job', params))),
    component: lazyRouteComponent(() => import('./job-page.tsx'), 'JobPage'),
  }),
];
