import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { routePageSearch } from './route-page-search.ts';

export const routeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/$routeId',
  staticData: { needed: { scope: 'routes:read' } },
  validateSearch: routePageSearch,
  component: lazyPage(async () => (await import('./route-page.tsx')).RoutePage),
});
