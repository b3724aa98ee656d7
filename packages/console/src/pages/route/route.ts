import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';

interface RoutePageSearch {
  /** The open tab; absent: the policies. */
  readonly tab?: 'explain';
}

export const routeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/$routeId',
  staticData: { needed: { scope: 'routes:read' } },
  validateSearch: ({ tab }: Record<string, unknown>): RoutePageSearch =>
    tab === 'explain' ? { tab } : {},
  component: lazyPage(async () => (await import('./route-page.tsx')).RoutePage),
});
