import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { servicesSearch } from './services-search.ts';

export const servicesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services',
  staticData: { needed: { scope: 'services:read' } },
  validateSearch: servicesSearch,
  component: lazyPage(async () => (await import('./services-page.tsx')).ServicesPage),
});
