import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { auditSearch } from './audit-search.ts';

export const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'audit',
  staticData: { needed: { scope: 'audit:read' } },
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});
