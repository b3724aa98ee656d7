import { createRoute, redirect, retainSearchParams } from '@tanstack/react-router';
import { callerQuery, isRefused } from './api/session.ts';
import { rootRoute } from './root-route.ts';
import { lazyPage } from './lazy-page.tsx';
import { FirstError, FirstLoading } from './shell/without-shell.tsx';

/** The search parameters of every page that needs a session. */
export interface AppSearch {
  /** The environment that the pages show; absent: the default of the token. */
  readonly environment?: string;
}

/** The parent of all pages that need a session. Without one it leads to the sign-in, which returns to the page. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  validateSearch: ({ environment }: Record<string, unknown>): AppSearch =>
    typeof environment === 'string' && environment !== '' ? { environment } : {},
  search: { middlewares: [retainSearchParams(['environment'])] },
  async beforeLoad({ context, location }) {
    try {
      await context.queryClient.query({ ...callerQuery, staleTime: 'static' });
    } catch (error) {
      if (!isRefused(error)) throw error;
      redirect({ to: '/sign-in', search: { next: location.publicHref }, throw: true });
    }
  },
  component: lazyPage(async () => (await import('./shell/shell.tsx')).Shell),
  errorComponent: FirstError,
  pendingComponent: FirstLoading,
  // Its skeleton is the first thing that is seen, and goes as soon as there is more.
  pendingMs: 0,
  pendingMinMs: 0,
});
