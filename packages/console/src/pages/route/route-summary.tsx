import { Group, Paper, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Route } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery } from '../../api/service-names.ts';
import { countText } from '../../ui/count-text.ts';
import { Facts } from '../../ui/facts.tsx';
import { GrpcStatuses } from '../../ui/grpc-statuses.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { minuteCounts } from '../routes/minute-counts.ts';
import { routeTrafficQuery } from '../routes/routes-query.ts';
import { answerText } from '../routes/answer-text.ts';
import { RouteWays } from '../routes/route-ways.tsx';
import { weightText } from '../routes/weight-text.ts';

/** More are in the form. */
const SHOWN_WAYS = 8;

/** What the route is, and its traffic of the last hour. */
export function RouteSummary({ route }: { readonly route: Route }) {
  const { data: services = [] } = useQuery(serviceNamesQuery(route.environment));
  const nameOf = (id: string) => services.find((one) => one.id === id)?.name ?? id;
  const { status, environment, service_id: service, versions, revision, updated_at } = route;
  const { mirror } = route;
  const answer = answerText(route);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Paper withBorder p="md">
        <Facts
          facts={[
            ['Status', <StatusText key="status" status={status} />],
            ['Reached at', <RouteWays key="ways" route={route} shown={SHOWN_WAYS} withName />],
            ['Environment', environment],
            [
              answer !== undefined ? 'Answer' : versions === null ? 'Service' : 'Versions',
              answer !== undefined
                ? answer
                : versions === null
                  ? service !== null && (
                      <TextLink to="/services/$serviceId" params={{ serviceId: service }} inherit>
                        {nameOf(service)}
                      </TextLink>
                    )
                  : versions
                      .map((one) => `${one.name} ${weightText(one.weight, versions)}`)
                      .join(', '),
            ],
            ...(mirror === null
              ? []
              : ([
                  [
                    'Mirror',
                    <span key="mirror">
                      {mirror.percent} % to{' '}
                      <TextLink
                        to="/services/$serviceId"
                        params={{ serviceId: mirror.service_id }}
                        inherit
                      >
                        {nameOf(mirror.service_id)}
                      </TextLink>
                    </span>,
                  ],
                ] as const)),
            [
              'Changed',
              <Group key="changed" gap={4}>
                <RelativeTime at={updated_at} />
                <span>(revision {revision})</span>
              </Group>,
            ],
          ]}
        />
      </Paper>
      <Paper withBorder p="md">
        <RouteTrafficSummary route={route} />
      </Paper>
    </SimpleGrid>
  );
}

function StatusText({ status }: Pick<Route, 'status'>) {
  return (
    <Group gap="xs">
      <StatusBadge status={status} />
      {status === 'disabled' && <span>Requests get 404.</span>}
    </Group>
  );
}

function RouteTrafficSummary({ route }: { readonly route: Route }) {
  const { name, environment } = route;
  const { allowed, reason } = useScope('requests:read');
  const { data } = useQuery({ ...routeTrafficQuery(route), enabled: allowed });
  if (!allowed) {
    return (
      <Text size="sm" c="dimmed">
        {reason}
      </Text>
    );
  }
  const {
    requests = 0,
    errors = 0,
    p50_ms = null,
    p95_ms = null,
    p99_ms = null,
  } = data?.total ?? {};
  const counts = data === undefined ? { requests: [0, 0], errors: [0, 0] } : minuteCounts(data);
  const percentiles = [p50_ms, p95_ms, p99_ms].map((ms) => (ms === null ? '–' : Math.round(ms)));
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        Requests in the last hour
      </Text>
      <Sparkline
        label="Requests by minute"
        values={counts.requests}
        errors={counts.errors}
        width={320}
        height={48}
      />
      <Group gap="lg" mt="sm">
        <Text size="sm">
          {countText(requests, 'request')}, {errors.toLocaleString()} failed
        </Text>
        <TextLink to="/requests" search={{ route: name, environment }} size="sm">
          Show the requests
        </TextLink>
        {requests > 0 && <Text size="sm">p50 / p95 / p99: {percentiles.join(' / ')} ms</Text>}
      </Group>
      <GrpcStatuses statuses={data?.grpc_statuses ?? []} of={{ environment, route: name }} />
    </>
  );
}
