import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { requestsSearch } from './requests-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const requestsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests',
  staticData: { needed: { scope: 'requests:read' } },
  validateSearch: requestsSearch,
  component: lazyPage(async () => (await import('./requests-page.tsx')).RequestsPage),
});

export const requestRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests/$id',
  staticData: { needed: { scope: 'requests:read' } },
  component: lazyPage(async () => (await import('./request-page.tsx')).RequestPage),
});
