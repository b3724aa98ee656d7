import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { routesSearch } from './routes-search.ts';

export const routesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes',
  validateSearch: routesSearch,
  component: lazyRouteComponent(() => import('./routes-page.tsx'), 'RoutesPage'),
});
