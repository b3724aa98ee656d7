import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const dataPlanesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'data-planes',
  staticData: { needed: { scope: 'config:read' } },
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./data-planes-page.tsx')).DataPlanesPage),
});
