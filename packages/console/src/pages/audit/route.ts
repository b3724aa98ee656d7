import { createRoute } from '@tanstack/react-router';
import { appRoute } from '../../app-route.ts';
import { auditSearch } from './audit-search.ts';
import { lazyPage } from '../../lazy-page.tsx';

export const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'audit',
  staticData: { needed: { scope: 'audit:read' } },
  validateSearch: auditSearch,
  component: lazyPage(async () => (await import('./audit-page.tsx')).AuditPage),
});
