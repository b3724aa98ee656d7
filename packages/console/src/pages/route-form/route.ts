import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const newRouteRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/new',
  // The service that it leads to at first.
  validateSearch: ({ service }: Record<string, unknown>): { readonly service?: string } =>
    typeof service === 'string' && service !== '' ? { service } : {},
  staticData: { needed: { scope: 'routes:write' } },
  component: lazyPage(async () => (await import('./new-route-page.tsx')).NewRoutePage),
});

export const editRouteRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/$routeId/edit',
  staticData: { needed: { scope: ['routes:read', 'routes:write'] } },
  component: lazyPage(async () => (await import('./edit-route-page.tsx')).EditRoutePage),
});
