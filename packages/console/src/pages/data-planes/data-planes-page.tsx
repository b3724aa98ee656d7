import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { DataPlane } from '../../api/client.ts';
import { useEnvironment } from '../../api/environments.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { DashboardLinks } from '../../ui/external-links.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { withCursor } from '../../ui/with-cursor.ts';
import { dataPlanesText } from '../overview/data-planes-text.ts';
import { dataPlanesQuery } from './data-planes-query.ts';
import { cpuUse, memoryUse } from './process-use.ts';
import { Lag, Problem } from './served-cells.tsx';
import { Measured } from './use-tiles.tsx';

const route = getRouteApi('/app/data-planes');

function columnsFor(environment: string): readonly Column<DataPlane>[] {
  const served = (one: DataPlane) => one.environments.find((it) => it.environment === environment);
  return [
    {
      key: 'id',
      header: 'Data plane',
      cell: ({ id }) => (
        <TextLink to="/data-planes/$dataPlaneId" params={{ dataPlaneId: id }} inherit>
          {id}
        </TextLink>
      ),
    },
    {
      key: 'state',
      header: 'State',
      cell: ({ stale }) => <StatusBadge status={stale ? 'stale' : 'live'} />,
    },
    {
      key: 'region',
      header: 'Region',
      isCut: true,
      visibleFrom: 'sm',
      cell: ({ region }) => region,
    },
    {
      key: 'configuration',
      header: 'Configuration',
      cell: (one) => <Lag served={served(one)} />,
    },
    {
      key: 'flight',
      header: 'In flight',
      align: 'right',
      visibleFrom: 'md',
      cell: ({ in_flight }) => in_flight.toLocaleString('en'),
    },
    {
      key: 'cpu',
      header: 'CPU',
      align: 'right',
      visibleFrom: 'sm',
      cell: (one) => <Measured of={cpuUse(one)} />,
    },
    {
      key: 'memory',
      header: 'Memory',
      align: 'right',
      visibleFrom: 'sm',
      cell: (one) => <Measured of={memoryUse(one)} />,
    },
    {
      key: 'software',
      header: 'Software',
      visibleFrom: 'lg',
      cell: ({ gateway_version }) => gateway_version ?? 'unknown',
    },
    {
      key: 'error',
      header: 'Problem',
      visibleFrom: 'md',
      cell: (one) => <Problem served={served(one)} />,
    },
    {
      key: 'seen',
      header: 'Last heartbeat',
      visibleFrom: 'md',
      cell: ({ last_seen_at }) => <RelativeTime at={last_seen_at} />,
    },
    {
      key: 'started',
      header: 'Started',
      visibleFrom: 'xl',
      cell: ({ started_at }) => <RelativeTime at={started_at} />,
    },
  ];
}

/** The data planes and the configuration of the environment that each serves. */
export function DataPlanesPage() {
  const environment = useEnvironment();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(dataPlanesQuery(environment, cursor));
  const rows = query.data?.data ?? [];
  const isWhole = cursor === undefined && query.data?.next_cursor === null;
  return (
    <Page title="Data planes">
      {isWhole && rows.length > 0 && (
        <Text c="dimmed" mt={-8}>
          {dataPlanesText(rows, environment).text} in {environment}.
        </Text>
      )}
      <PagedTable
        label="Data planes"
        hasLinkedRows
        columns={columnsFor(environment)}
        query={query}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No data plane has sent a heartbeat">
            Start one, or check that it reaches NATS.
          </Empty>
        }
        cursor={cursor}
        onMove={(to) => void navigate({ search: (now) => withCursor(now, to) })}
      />
      <DashboardLinks dashboards={['processes', 'configuration']} />
    </Page>
  );
}
