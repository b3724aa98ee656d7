import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';

export const newServiceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/new',
  staticData: { needed: { scope: 'services:write' } },
  component: lazyRouteComponent(() => import('./new-service-page.tsx'), 'NewServicePage'),
});

export const editServiceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/$serviceId/edit',
  staticData: { needed: { scope: ['services:read', 'services:write'] } },
  component: lazyRouteComponent(() => import('./edit-service-page.tsx'), 'EditServicePage'),
});
