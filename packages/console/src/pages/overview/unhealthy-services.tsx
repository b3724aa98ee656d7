import { Box } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { HealthReason } from '../services/health-reason.tsx';
import { RegionHealth } from '../services/region-health.tsx';
import { Note, Panel } from './panel.tsx';
import { Rows } from './rows.tsx';
import classes from './unhealthy-services.module.css';

const TITLE = 'Services that are not healthy';
const EVERY_MS = 3000;
/** More would not be read by anybody at a glance. */
const MAX_SHOWN = 6;

/** The services of an environment that have an upstream that is not healthy, the worst first. */
function failingServicesQuery(environment: string) {
  return queryOptions({
    queryKey: ['services', environment, 'failing'],
    queryFn: async ({ signal }) => {
      const query = {
        environment,
        status: 'failing',
        order: 'status',
        limit: MAX_SHOWN + 1,
      } as const;
      return (await gateway.get('/v1/services', { params: { query }, signal })).body.data;
    },
    refetchInterval: EVERY_MS,
  });
}

/** Which services need attention; nothing if all are healthy. */
export function UnhealthyServices({ environment }: { readonly environment: string }) {
  const { allowed } = useScope('services:read');
  const query = useQuery({ ...failingServicesQuery(environment), enabled: allowed });
  const { data: services = [], error, refetch } = query;
  if (error !== null) {
    return (
      <Panel title={TITLE}>
        <LoadError error={error} onRetry={() => void refetch()} isPart />
      </Panel>
    );
  }
  if (services.length === 0) return null;
  return (
    <Panel
      title={TITLE}
      isUrgent
      more={
        <TextLink to="/services" search={{ status: 'failing' }} size="sm" aria-label="All of them">
          All
        </TextLink>
      }
    >
      <Rows items={services.slice(0, MAX_SHOWN)} itemKey={({ id }) => id}>
        {({ id, name, status }) => [
          <span key="service" className={classes.service}>
            <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit fw={500}>
              {visibleText(name)}
            </TextLink>
            <StatusBadge status={status} />
            <span className={classes.reason}>
              <HealthReason serviceId={id} status={status} />
            </span>
          </span>,
          // On a phone the reason says enough.
          <Box key="health" visibleFrom="sm">
            <RegionHealth serviceId={id} />
          </Box>,
        ]}
      </Rows>
      {services.length > MAX_SHOWN && <Note>and more</Note>}
    </Panel>
  );
}
