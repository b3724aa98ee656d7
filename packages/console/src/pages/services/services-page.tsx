import { Code, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Service } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { NextStep } from '../../ui/next-step.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedButton } from '../../ui/scoped-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { FindService } from './find-service.tsx';
import { RegionHealth } from './region-health.tsx';
import { servicesQuery } from './services-query.ts';

const route = getRouteApi('/app/services');

const SHOWN_UPSTREAMS = 3;

const columns: readonly Column<Service>[] = [
  {
    key: 'name',
    header: 'Name',
    cell: ({ id, name }) => (
      <TextLink to="/services/$serviceId" params={{ serviceId: id }} inherit>
        {name}
      </TextLink>
    ),
  },
  { key: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { key: 'regions', header: 'Regions', cell: ({ id }) => <RegionHealth serviceId={id} /> },
  {
    key: 'upstreams',
    header: 'Upstreams',
    visibleFrom: 'md',
    cell: ({ upstreams }) => (
      <Stack gap={4} align="flex-start">
        {upstreams.slice(0, SHOWN_UPSTREAMS).map(({ url, region }) => (
          <Code key={`${url} ${region ?? ''}`}>
            <LongText text={url} what="URL" />
          </Code>
        ))}
        {upstreams.length > SHOWN_UPSTREAMS && `and ${upstreams.length - SHOWN_UPSTREAMS} more`}
      </Stack>
    ),
  },
  {
    key: 'changed',
    header: 'Changed',
    visibleFrom: 'sm',
    cell: ({ updated_at }) => <RelativeTime at={updated_at} />,
  },
];

/** The services of the environment, with their health. */
export function ServicesPage() {
  const environment = useEnvironment();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(servicesQuery(environment, cursor));
  return (
    <Page
      title="Services"
      actions={
        <>
          <FindService environment={environment} />
          <ScopedButton
            scope="services:write"
            onClick={() => void navigate({ to: '/services/new' })}
          >
            New service
          </ScopedButton>
        </>
      }
    >
      <PagedTable
        label="Services"
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <Empty title={`No services in ${environment}`}>
            A service is what the gateway forwards requests to.{' '}
            <NextStep scope="services:write" to="/services/new">
              Create the first service
            </NextStep>
          </Empty>
        }
        cursor={cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
    </Page>
  );
}
