import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { routesSearch } from './routes-search.ts';

export const routesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes',
  staticData: { needed: { scope: 'routes:read' } },
  validateSearch: routesSearch,
  component: lazyRouteComponent(() => import('./routes-page.tsx'), 'RoutesPage'),
});
