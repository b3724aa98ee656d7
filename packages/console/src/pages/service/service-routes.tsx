import { Paper } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, serverClock, type Route, type RouteTraffic } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { msText } from '../../ui/ms-text.ts';
import { NextStep } from '../../ui/next-step.tsx';
import { errorTone } from '../../ui/error-share.tsx';
import { NoValue } from '../../ui/no-value.tsx';
import { shareText } from '../../ui/share-text.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import classes from './service.module.css';

/** More are in the list of routes. */
const MAX_SHOWN = 10;
const HOUR_MS = 3_600_000;

/** The routes that forward to a service, the first of them by age. */
export function serviceRoutesQuery(id: string) {
  return queryOptions({
    queryKey: ['routes', 'of-service', id],
    queryFn: async ({ signal }) => {
      const query = { service_id: id, limit: MAX_SHOWN + 1 };
      return (await gateway.get('/v1/routes', { params: { query }, signal })).body.data;
    },
    refetchInterval: 15_000,
  });
}

function routesTrafficQuery(environment: string, names: readonly string[]) {
  return queryOptions({
    queryKey: ['traffic', environment, 'routes', names],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, RouteTraffic>> => {
      const from = new Date(serverClock.nowMs() - HOUR_MS).toISOString();
      const query = { environment, from, names: names.join(','), limit: MAX_SHOWN };
      const { data } = (await gateway.get('/v1/stats/routes', { params: { query }, signal })).body;
      return new Map(data.routes.map((one) => [one.route, one]));
    },
    refetchInterval: 15_000,
  });
}

interface ServiceRoutesProps {
  readonly serviceId: string;
  readonly environment: string;
}

/** The routes that forward to a service, with what each had in the last hour. */
export function ServiceRoutes({ serviceId, environment }: ServiceRoutesProps) {
  const seesRoutes = useScope('routes:read').allowed;
  const seesTraffic = useScope('requests:read').allowed;
  const { data } = useQuery({ ...serviceRoutesQuery(serviceId), enabled: seesRoutes });
  const shown = data?.slice(0, MAX_SHOWN);
  const names = shown?.map(({ name }) => name) ?? [];
  const traffic = useQuery({
    ...routesTrafficQuery(environment, names),
    enabled: seesTraffic && names.length > 0,
  });
  if (!seesRoutes) return null;
  return (
    <Paper withBorder component="section" aria-labelledby="routes">
      <div className={classes.head}>
        <h2 id="routes">Routes</h2>
        {data !== undefined && data.length > MAX_SHOWN && (
          <TextLink to="/routes" search={{ service: serviceId }} size="sm">
            All routes to this service
          </TextLink>
        )}
      </div>
      <DataTable
        label="Routes to this service"
        hasLinkedRows
        columns={columnsOf(traffic.data)}
        rows={shown}
        rowKey={({ id }) => id}
        empty={
          <p className={classes.nothing}>
            <span>No route forwards to this service.</span>
            <NextStep scope="routes:write" to="/routes/new" service={serviceId}>
              Create a route
            </NextStep>
          </p>
        }
      />
    </Paper>
  );
}

function columnsOf(
  traffic: ReadonlyMap<string, RouteTraffic> | undefined,
): readonly Column<Route>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ id, name }) => (
        <TextLink to="/routes/$routeId" params={{ routeId: id }} inherit>
          {name}
        </TextLink>
      ),
    },
    { key: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'requests',
      header: 'Requests, 1 h',
      align: 'right',
      cell: ({ name }) => {
        const counted = traffic?.get(name);
        if (counted === undefined) return <NoValue />;
        return (
          <TextLink to="/requests" search={{ route: name, period: '1h' }} inherit>
            {counted.requests.toLocaleString('en')}
          </TextLink>
        );
      },
    },
    {
      key: 'errors',
      header: 'Errors',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ name }) => {
        const counted = traffic?.get(name);
        if (counted === undefined || counted.requests === 0) return <NoValue />;
        const share = counted.errors / counted.requests;
        return (
          <TextLink
            to="/requests"
            search={{ route: name, period: '1h', failed: true }}
            inherit
            {...errorTone(share)}
          >
            {shareText(share)}
          </TextLink>
        );
      },
    },
    {
      key: 'p95',
      header: 'p95',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ name }) => {
        const p95 = traffic?.get(name)?.p95_ms ?? null;
        return p95 === null ? <NoValue /> : msText(p95);
      },
    },
  ];
}
