import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { overviewSearch } from './periods.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'overview',
  validateSearch: overviewSearch,
  component: lazyPage(async () => (await import('./overview-page.tsx')).OverviewPage),
});
