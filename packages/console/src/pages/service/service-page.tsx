import { Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { useScope } from '../../api/rights.ts';
import { DashboardLinks } from '../../ui/external-links.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { ChartsSkeleton } from '../overview/traffic-charts.tsx';
import { serviceHealthQuery } from '../services/services-query.ts';
import { HealthPanel, HealthSkeleton } from './health-panel.tsx';
import { ServiceActions } from './service-actions.tsx';
import { serviceQuery } from './service-query.ts';
import { ServiceRoutes, serviceRoutesQuery } from './service-routes.tsx';
import { ServiceSummary } from './service-summary.tsx';
import { ServiceTraffic } from './service-traffic.tsx';
import { shownStatus } from './shown-status.ts';
import classes from './service.module.css';

const page = getRouteApi('/app/services/$serviceId');

/** One service: its health as each data plane sees it, its traffic, its routes, and its settings. */
export function ServicePage() {
  const { serviceId } = page.useParams();
  const { data, error, refetch } = useQuery(serviceQuery(serviceId));
  // The table and the status are of one reading, so that they never contradict each other.
  const health = useQuery(serviceHealthQuery(serviceId));
  const { allowed } = useScope('routes:read');
  const routes = useQuery({ ...serviceRoutesQuery(serviceId), enabled: allowed });
  useFollowEnvironment(data?.service.environment);
  if (data === undefined) {
    return (
      <Page title="Service">
        {error === null ? (
          <>
            <Paper withBorder>
              <HealthSkeleton />
            </Paper>
            <ChartsSkeleton />
          </>
        ) : (
          <LoadError error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  const { service } = data;
  const status = shownStatus(service.status, health.data);
  return (
    <Page
      title={service.name}
      heading={visibleText(service.name)}
      state={<StatusBadge status={status} />}
      actions={<ServiceActions {...data} />}
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <HealthPanel serviceId={serviceId} />
      <ServiceTraffic service={service} routes={routes.data} />
      <div className={classes.below}>
        <ServiceRoutes serviceId={serviceId} environment={service.environment} />
        <ServiceSummary service={service} />
      </div>
      <DashboardLinks dashboards={['service']} of={{ service: service.name }} />
    </Page>
  );
}
