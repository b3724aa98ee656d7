import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';

export const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'tokens',
  staticData: { needed: { scope: 'tokens:read' } },
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./tokens-page.tsx'), 'TokensPage'),
});
