import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const newServiceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/new',
  staticData: { needed: { scope: 'services:write' } },
  component: lazyPage(async () => (await import('./new-service-page.tsx')).NewServicePage),
});

export const editServiceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/$serviceId/edit',
  staticData: { needed: { scope: ['services:read', 'services:write'] } },
  component: lazyPage(async () => (await import('./edit-service-page.tsx')).EditServicePage),
});
