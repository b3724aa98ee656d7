import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const environmentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'environments',
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./environments-page.tsx')).EnvironmentsPage),
});
