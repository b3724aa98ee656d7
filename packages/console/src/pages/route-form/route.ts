import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';

export const newRouteRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/new',
  staticData: { needed: { scope: 'routes:write' } },
  component: lazyRouteComponent(() => import('./new-route-page.tsx'), 'NewRoutePage'),
});

export const editRouteRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/$routeId/edit',
  staticData: { needed: { scope: ['routes:read', 'routes:write'] } },
  component: lazyRouteComponent(() => import('./edit-route-page.tsx'), 'EditRoutePage'),
});
