import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../app-route.ts';
import { lazyPage } from '../lazy-page.tsx';

/** Every path without a page. It is a page as others, so that the navigation stays. */
export const notFoundRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '$',
  component: lazyPage(async () => (await import('../shell/not-found.tsx')).NotFound),
});
