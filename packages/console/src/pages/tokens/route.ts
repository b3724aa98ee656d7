import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'tokens',
  staticData: { needed: { scope: 'tokens:read' } },
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./tokens-page.tsx')).TokensPage),
});
