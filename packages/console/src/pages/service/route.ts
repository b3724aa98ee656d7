import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const serviceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services/$serviceId',
  staticData: { needed: { scope: 'services:read' } },
  component: lazyPage(async () => (await import('./service-page.tsx')).ServicePage),
});
