import { Stack } from '@mantine/core';
import { useScope } from '../../../api/rights.ts';
import { Empty } from '../../../ui/empty.tsx';
import { DashboardLinks } from '../../../ui/external-links.tsx';
import { TextLink } from '../../../ui/text-link.tsx';
import type { RouteReading } from '../route-query.ts';
import { SplitPanel } from './split-panel.tsx';
import { VersionCharts } from './version-charts.tsx';
import { VersionTable } from './version-table.tsx';

/** The versions of a route: their shares, how they compare, and the way to all requests or back to none. */
export function VersionsTab({ route, etag }: RouteReading) {
  const { versions } = route;
  const canWrite = useScope('routes:write');
  if (versions === null) {
    return (
      <Empty title={`${route.name} has no versions`}>
        With versions, a part of the requests goes to another service, and grows step by step.{' '}
        {canWrite.allowed && (
          <TextLink
            to="/routes/$routeId/edit"
            params={{ routeId: route.id }}
            hash="service_id"
            size="sm"
          >
            Add a version
          </TextLink>
        )}
      </Empty>
    );
  }
  return (
    <Stack gap="md">
      <SplitPanel route={route} etag={etag} versions={versions} />
      <VersionTable route={route} versions={versions} />
      <VersionCharts route={route} versions={versions} />
      <DashboardLinks
        dashboards={['canary']}
        of={{ environment: route.environment, route: route.name }}
      />
    </Stack>
  );
}
