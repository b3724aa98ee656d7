import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../root-route.ts';
import { lazyPage } from '../../lazy-page.tsx';
import { FirstError } from '../../shell/without-shell.tsx';
import { Loading } from '../../ui/loading.tsx';

interface SignInSearch {
  /** The page to return to: its address, with the base path of the console. */
  readonly next?: string;
  /** Why the browser is here, if it had a session. */
  readonly reason?: 'ended';
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sign-in',
  validateSearch: ({ next, reason }: Record<string, unknown>): SignInSearch => ({
    ...(isOwnPath(next) && { next }),
    ...(reason === 'ended' && { reason }),
  }),
  component: lazyPage(async () => (await import('./sign-in-page.tsx')).SignInPage),
  errorComponent: FirstError,
  pendingComponent: Loading,
});

/** Only a path of the console itself, because a link to the sign-in may come from anybody. */
function isOwnPath(next: unknown): next is string {
  return typeof next === 'string' && /^\/console(?:[/?#]|$)/.test(next);
}
