import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useFollowEnvironment } from '../../api/follow-environment.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Page } from '../../ui/page.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { serviceHealthQuery } from '../services/services-query.ts';
import { HealthPanel } from './health-panel.tsx';
import { ServiceActions } from './service-actions.tsx';
import { serviceQuery } from './service-query.ts';
import { ServiceSummary } from './service-summary.tsx';

const page = getRouteApi('/app/services/$serviceId');

/** One service: its health as each data plane sees it, and its settings. */
export function ServicePage() {
  const { serviceId } = page.useParams();
  const { data, error, refetch } = useQuery(serviceQuery(serviceId));
  // The table and the status are of one reading, so that they never contradict each other.
  const health = useQuery(serviceHealthQuery(serviceId));
  useFollowEnvironment(data?.service.environment);
  if (data === undefined) {
    return (
      <Page title="Service" actions={<TextLink to="/services">All services</TextLink>}>
        {error === null ? <Loading /> : <LoadError error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  return (
    <Page title={data.service.name} actions={<ServiceActions {...data} />}>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <HealthPanel serviceId={serviceId} />
      <ServiceSummary service={data.service} status={health.data?.status ?? data.service.status} />
    </Page>
  );
}
