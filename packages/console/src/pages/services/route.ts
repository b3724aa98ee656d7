import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';

export const servicesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'services',
  staticData: { needed: { scope: 'services:read' } },
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./services-page.tsx'), 'ServicesPage'),
});
