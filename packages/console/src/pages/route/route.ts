import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';

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
  component: lazyRouteComponent(() => import('./route-page.tsx'), 'RoutePage'),
});
