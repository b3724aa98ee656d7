import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';

export const dataPlanesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'data-planes',
  staticData: { needed: { scope: 'config:read' } },
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./data-planes-page.tsx'), 'DataPlanesPage'),
});
