import { msText } from '../../ui/ms-text.ts';
import { Alert, Paper, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { DataPlane } from '../../api/client.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { DashboardLinks } from '../../ui/external-links.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Tile, Tiles } from '../../ui/tiles.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { dataPlaneQuery } from './data-planes-query.ts';
import { Lag, Problem } from './served-cells.tsx';
import { UseTiles } from './use-tiles.tsx';
import classes from './data-plane.module.css';

const page = getRouteApi('/app/data-planes/$dataPlaneId');

type Served = DataPlane['environments'][number];

/** One data plane, as its last heartbeat describes it. */
export function DataPlanePage() {
  const { dataPlaneId } = page.useParams();
  const { data, error, refetch } = useQuery(dataPlaneQuery(dataPlaneId));
  return (
    <Page
      title={visibleText(dataPlaneId)}
      state={data && <StatusBadge status={data.stale ? 'stale' : 'live'} />}
    >
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={240} />}
      {data === null && (
        <Empty title="This data plane sends no heartbeat">
          It was stopped, or has been silent for ten minutes.{' '}
          <TextLink to="/data-planes">All data planes</TextLink>
        </Empty>
      )}
      {data !== null && data !== undefined && <Shown plane={data} />}
      <DashboardLinks dashboards={['processes', 'configuration']} />
    </Page>
  );
}

function Shown({ plane }: { readonly plane: DataPlane }) {
  const { environments } = plane;
  const shownFirst = environments.toSorted((a, b) => rank(b) - rank(a));
  return (
    <>
      {plane.last_error !== null && (
        <Alert color="red" title="Its last error">
          {visibleText(plane.last_error)}
        </Alert>
      )}
      <UseTiles plane={plane} />
      <Tiles>
        <Tile name="Region" isWords>
          {plane.region}
        </Tile>
        <Tile name="Last heartbeat" isWords>
          <RelativeTime at={plane.last_seen_at} />
        </Tile>
        <Tile name="Started" isWords>
          <RelativeTime at={plane.started_at} />
        </Tile>
        <Tile name="Software" isWords>
          {plane.gateway_version ?? 'unknown'}
        </Tile>
        <Tile name="Clock" isWords>
          {clockText(plane.server_ahead_ms)}
        </Tile>
      </Tiles>
      <Paper withBorder>
        <h2 className={classes.title}>Configuration by environment</h2>
        <DataTable
          label="Configuration by environment"
          columns={COLUMNS}
          rows={shownFirst}
          rowKey={({ environment }) => environment}
          empty={<Empty title="It serves no environment" />}
        />
      </Paper>
    </>
  );
}

/** Those that somebody should look at stand first. */
function rank({ versions_behind, last_error, unusable_count }: Served): number {
  return (
    (last_error === null ? 0 : 4) + (unusable_count > 0 ? 2 : 0) + (versions_behind > 0 ? 1 : 0)
  );
}

const COLUMNS: readonly Column<Served>[] = [
  {
    key: 'environment',
    header: 'Environment',
    cell: ({ environment }) => (
      <TextLink to="/configuration" search={{ environment }} inherit>
        {environment}
      </TextLink>
    ),
  },
  { key: 'lag', header: 'Configuration', cell: (served) => <Lag served={served} /> },
  { key: 'problem', header: 'Problem', cell: (served) => <Problem served={served} /> },
];

/** How the clock of the data plane differs from that of NATS. */
function clockText(aheadMs: number | null): string {
  if (aheadMs === null) return 'not compared with NATS yet';
  if (Math.abs(aheadMs) < 50) return 'as that of NATS';
  const difference = msText(Math.abs(aheadMs));
  return aheadMs > 0 ? `${difference} behind that of NATS` : `${difference} ahead of that of NATS`;
}
