import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, serverClock, type Route, type Service } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { LoadError } from '../../ui/load-error.tsx';
import { ChartsSkeleton, TrafficCharts } from '../overview/traffic-charts.tsx';
import { trafficOf, type Traffic } from '../overview/traffic.ts';
import { versionMarkersQuery } from '../overview/version-markers.ts';

const HOUR_MS = 3_600_000;
const MINUTE_S = 60;

function serviceTrafficQuery(id: string, environment: string) {
  return queryOptions({
    queryKey: ['traffic', environment, 'service', id],
    queryFn: async ({ signal }): Promise<Traffic> => {
      const nowMs = serverClock.nowMs();
      const from = new Date(nowMs - HOUR_MS).toISOString();
      const query = {
        environment,
        service_id: id,
        from,
        step: '1m' as const,
        by: 'status' as const,
      };
      const { data } = (await gateway.get('/v1/stats', { params: { query }, signal })).body;
      return trafficOf(data, undefined, MINUTE_S, nowMs);
    },
    refetchInterval: 10_000,
  });
}

interface ServiceTrafficProps {
  readonly service: Service;
  /** Those that forward to the service, as far as they are known. */
  readonly routes: readonly Route[] | undefined;
}

/** What went to a service in the last hour. */
export function ServiceTraffic({ service, routes }: ServiceTrafficProps) {
  const { id, environment } = service;
  const { allowed } = useScope('requests:read');
  const { data, error, refetch } = useQuery({
    ...serviceTrafficQuery(id, environment),
    enabled: allowed,
  });
  const seesVersions = useScope('config:read').allowed;
  const markers = useQuery({ ...versionMarkersQuery(environment), enabled: seesVersions });
  if (!allowed) return null;
  if (error !== null) return <LoadError error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <ChartsSkeleton />;
  return (
    <TrafficCharts
      points={data.points}
      range={data.range}
      markers={markers.data ?? NO_MARKERS}
      over="last hour"
      filter={requestsTo(service, routes)}
    />
  );
}

const NO_MARKERS = [] as const;

/** How the list of requests shows those of the service: by its only upstream, or by its only route. */
function requestsTo({ upstreams }: Service, routes: readonly Route[] | undefined) {
  const [upstream] = upstreams;
  if (upstreams.length === 1 && upstream !== undefined) return { upstream: upstream.url };
  const [route] = routes ?? [];
  // A route with versions forwards to other services too.
  const isOnly = routes?.length === 1 && (route?.versions?.length ?? 0) <= 1;
  return isOnly && route !== undefined ? { route: route.name } : null;
}
