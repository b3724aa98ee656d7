import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { routesSearch } from './routes-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const routesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes',
  staticData: { needed: { scope: 'routes:read' } },
  validateSearch: routesSearch,
  component: lazyPage(async () => (await import('./routes-page.tsx')).RoutesPage),
});
