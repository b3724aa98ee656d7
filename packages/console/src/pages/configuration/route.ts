import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { listSearch } from '../list-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const configurationRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'configuration',
  staticData: { needed: { scope: 'config:read' } },
  validateSearch: listSearch,
  component: lazyPage(async () => (await import('./versions-page.tsx')).VersionsPage),
});

interface VersionSearch {
  /** What the version is compared with; absent: the version before it. */
  readonly against?: 'current';
}

export const versionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'configuration/$version',
  staticData: { needed: { scope: 'config:read' } },
  validateSearch: ({ against }: Record<string, unknown>): VersionSearch =>
    against === 'current' ? { against } : {},
  component: lazyPage(async () => (await import('./version-page.tsx')).VersionPage),
});

export const rollBackRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'configuration/$version/roll-back',
  staticData: { needed: { scope: 'config:read' } },
  component: lazyPage(async () => (await import('./roll-back-page.tsx')).RollBackPage),
});
