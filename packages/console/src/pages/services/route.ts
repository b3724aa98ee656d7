import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const servicesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services',
  staticData: { needed: { scope: 'services:read' } },
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./services-page.tsx')).ServicesPage),
});
