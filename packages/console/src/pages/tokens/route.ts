import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { tokensSearch } from './tokens-search.ts';

export const tokensRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'tokens',
  staticData: { needed: { scope: 'tokens:read' } },
  validateSearch: tokensSearch,
  component: lazyPage(async () => (await import('./tokens-page.tsx')).TokensPage),
});
