import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext } from '@tanstack/react-router';

/** What every route may use before its page is shown. */
export interface RouterContext {
  readonly queryClient: QueryClient;
}

/** The root of all pages, with and without a session. */
export const rootRoute = createRootRouteWithContext<RouterContext>()();
