import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { requestsSearch } from './requests-search.ts';

export const requestsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests',
  validateSearch: requestsSearch,
  component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
});

export const requestRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'requests/$id',
  component: lazyRouteComponent(() => import('./request-page.tsx'), 'RequestPage'),
});
