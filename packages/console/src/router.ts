import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import type { Needed } from './api/needed-right.ts';
import { appRoute } from './app-route.ts';
import { auditRoute } from './pages/audit/route.ts';
import { callersRoute } from './pages/callers/route.ts';
import { configurationRoute, rollBackRoute, versionRoute } from './pages/configuration/route.ts';
import { dataPlaneRoute, dataPlanesRoute } from './pages/data-planes/route.ts';
import { overviewRoute } from './pages/overview/route.ts';
import { environmentsRoute } from './pages/environments/route.ts';
import { requestRoute, requestsRoute } from './pages/requests/route.ts';
import { homeRoute } from './pages/home-route.ts';
import { notFoundRoute } from './pages/not-found-route.ts';
import { routeRoute } from './pages/route/route.ts';
import { editRouteRoute, newRouteRoute } from './pages/route-form/route.ts';
import { routesRoute } from './pages/routes/route.ts';
import { serviceRoute } from './pages/service/route.ts';
import { editServiceRoute, newServiceRoute } from './pages/service-form/route.ts';
import { servicesRoute } from './pages/services/route.ts';
import { signInRoute } from './pages/sign-in/route.ts';
import { tokensRoute } from './pages/tokens/route.ts';
import { rootRoute } from './root-route.ts';
import { PageError } from './shell/page-error.tsx';
import { Loading } from './ui/loading.tsx';

/** Every page. A page that needs a session is a child of `appRoute`. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  appRoute.addChildren([
    homeRoute,
    overviewRoute,
    servicesRoute,
    serviceRoute,
    newServiceRoute,
    editServiceRoute,
    routesRoute,
    routeRoute,
    newRouteRoute,
    editRouteRoute,
    tokensRoute,
    dataPlanesRoute,
    dataPlaneRoute,
    configurationRoute,
    versionRoute,
    rollBackRoute,
    auditRoute,
    environmentsRoute,
    callersRoute,
    requestsRoute,
    requestRoute,
    notFoundRoute,
  ]),
]);

/** The router of the console, whose paths are below /console. */
export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: 'intent',
    defaultErrorComponent: PageError,
    defaultPendingComponent: Loading,
    defaultPendingMs: 300,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** What a token needs for the page. The navigation and the page say so if it lacks it. */
    readonly needed?: Needed;
  }
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
