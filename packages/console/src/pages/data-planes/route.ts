import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

const needed = { scope: 'config:read' } as const;

export const dataPlanesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'data-planes',
  staticData: { needed },
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./data-planes-page.tsx')).DataPlanesPage),
});

export const dataPlaneRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'data-planes/$dataPlaneId',
  staticData: { needed },
  component: lazyPage(async () => (await import('./data-plane-page.tsx')).DataPlanePage),
});
