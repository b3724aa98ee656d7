import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { requestsSearch } from './requests-search.ts';

export const requestsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests',
  staticData: { needed: { scope: 'requests:read' } },
  validateSearch: requestsSearch,
  component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
});

export const requestRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests/$id',
  staticData: { needed: { scope: 'requests:read' } },
  component: lazyRouteComponent(() => import('./request-page.tsx'), 'RequestPage'),
});
