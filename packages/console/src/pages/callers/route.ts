import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { callersSearch } from './callers-search.ts';

export const callersRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'callers',
  staticData: { needed: { scope: 'requests:read' } },
  validateSearch: callersSearch,
  component: lazyPage(async () => (await import('./callers-page.tsx')).CallersPage),
});
