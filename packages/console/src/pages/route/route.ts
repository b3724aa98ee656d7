import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { explainSearch, type ExplainSearch } from './explain/explain-search.ts';

interface RoutePageSearch extends ExplainSearch {
  /** The open tab; absent: the policies. */
  readonly tab?: 'explain';
}

export const routeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'routes/$routeId',
  staticData: { needed: { scope: 'routes:read' } },
  validateSearch: ({ tab, ...asked }: Record<string, unknown>): RoutePageSearch =>
    tab === 'explain' ? { tab, ...explainSearch(asked) } : {},
  component: lazyPage(async () => (await import('./route-page.tsx')).RoutePage),
});
