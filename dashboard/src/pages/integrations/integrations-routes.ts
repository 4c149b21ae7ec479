import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { idInAddress } from '../../shell/id-in-address.ts';
import { shellRoute } from '../../shell/shell-route.ts';
import { integrationQuery, integrationsQuery } from './integration-queries.ts';

export const integrationsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.integrations(),
    loader: () => queryClient.ensureQueryData(integrationsQuery),
    component: lazyRouteComponent(() => import('./integrations-page.tsx'), 'IntegrationsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.newIntegration(),
    loader: () => queryClient.ensureQueryData(integrationsQuery),
    component: lazyRouteComponent(() => import('./wizard-page.tsx'), 'WizardPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: paths.integration('$id'),
    loader: ({ params }) => {
      const id = idInAddress('integration', params);
      return Promise.all([
        queryClient.ensureQueryData(integrationQuery(id)),
        queryClient.ensureQueryData(integrationsQuery),
      ]);
    },
    component: lazyRouteComponent(() => import('./integration-page.tsx'), 'IntegrationPage'),
  }),
];
