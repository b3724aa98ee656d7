import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';

export const environmentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'environments',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./environments-page.tsx'), 'EnvironmentsPage'),
});
