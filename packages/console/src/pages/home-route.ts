import { createRoute, redirect } from '@tanstack/react-router';
import { appRoute } from '../app-route.ts';

/** The address of the console itself leads to its first page. */
export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  beforeLoad() {
    redirect({ to: '/overview', replace: true, throw: true });
  },
});
