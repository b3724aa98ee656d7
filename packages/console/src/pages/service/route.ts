import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';

export const serviceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/$serviceId',
  component: lazyRouteComponent(() => import('./service-page.tsx'), 'ServicePage'),
});
