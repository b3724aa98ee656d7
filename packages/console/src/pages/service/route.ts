import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';

export const serviceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/$serviceId',
  staticData: { needed: { scope: 'services:read' } },
  component: lazyRouteComponent(() => import('./service-page.tsx'), 'ServicePage'),
});
