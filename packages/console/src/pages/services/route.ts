import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';

export const servicesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./services-page.tsx'), 'ServicesPage'),
});
