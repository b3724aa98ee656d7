import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, type Service } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { NextStep } from '../../ui/next-step.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { RegionHealth } from '../services/region-health.tsx';
import { Note, Panel, PanelContent } from './panel.tsx';
import { Rows } from './rows.tsx';

const EVERY_MS = 3000;
/** More would not be read by anybody at a glance. */
const MAX_SHOWN = 8;
const MAX_SERVICES = 2000;

/** The services of an environment that have an upstream that is not healthy, the worst first. */
function unhealthyServicesQuery(environment: string) {
  return queryOptions({
    queryKey: ['services', environment, 'unhealthy'],
    queryFn: async ({ signal }) => {
      const query = { environment, limit: 200 };
      const services: Service[] = [];
      let count = 0;
      for await (const one of gateway.list('/v1/services', { params: { query }, signal })) {
        count += 1;
        if (one.status !== 'healthy') services.push(one);
        if (count >= MAX_SERVICES) break;
      }
      const rank = ({ status }: Service) => (status === 'unhealthy' ? 0 : 1);
      return { count, services: services.toSorted((a, b) => rank(a) - rank(b)) };
    },
    refetchInterval: EVERY_MS,
  });
}

/** Which services need attention. */
export function UnhealthyServices({ environment }: { readonly environment: string }) {
  const { allowed } = useScope('services:read');
  const query = useQuery({ ...unhealthyServicesQuery(environment), enabled: allowed });
  return (
    <Panel
      title="Services that are not healthy"
      more={
        <TextLink to="/services" size="sm" aria-label="All services">
          All
        </TextLink>
      }
    >
      <PanelContent scope="services:read" query={query}>
        {({ count, services }) =>
          services.length === 0 ? (
            <Note>
              {count === 0 ? (
                <>
                  There are no services in {environment}.{' '}
                  <NextStep scope="services:write" to="/services/new">
                    Create the first service
                  </NextStep>
                </>
              ) : (
                healthyText(count)
              )}
            </Note>
          ) : (
            <>
              <Rows items={services.slice(0, MAX_SHOWN)} itemKey={({ id }) => id}>
                {({ id, name, status }) => [
                  <>
                    <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
                      {name}
                    </TextLink>{' '}
                    <StatusBadge status={status} />
                  </>,
                  <RegionHealth key="health" serviceId={id} />,
                ]}
              </Rows>
              {services.length > MAX_SHOWN && (
                <Note>and {(services.length - MAX_SHOWN).toLocaleString()} more</Note>
              )}
            </>
          )
        }
      </PanelContent>
    </Panel>
  );
}

function healthyText(count: number): string {
  return count === 1
    ? 'The only service is healthy.'
    : `All ${count.toLocaleString()} services are healthy.`;
}
