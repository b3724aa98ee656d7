import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ErrorRateCell, P95Cell, QuotaCell, RequestsCell } from './route-traffic-cells.tsx';
import { RouteWays } from './route-ways.tsx';
import type { TrafficOfRoutes } from './routes-query.ts';
import { answerText } from './answer-text.ts';
import { weightText } from './weight-text.ts';
import classes from './route-ways.module.css';

/**
 * The columns of the list.
 * @param nameOf names a service
 * @param traffic undefined: it is being loaded; null: the session may not see it
 */
export function routeColumns(
  nameOf: (id: string) => string,
  traffic: TrafficOfRoutes | undefined | null,
): readonly Column<Route>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      order: 'name',
      cell: ({ id, name, status }) => (
        <Group gap="xs" wrap="nowrap">
          <TextLink to="/routes/$routeId" params={{ routeId: id }} inherit>
            {name}
          </TextLink>
          {status === 'disabled' && <StatusBadge status={status} />}
        </Group>
      ),
    },
    {
      key: 'target',
      header: 'Service',
      isCut: true,
      visibleFrom: 'sm',
      cell: (route) => <Target route={route} nameOf={nameOf} />,
    },
    {
      key: 'reached',
      header: 'Reached at',
      visibleFrom: 'xl',
      cell: (route) => <RouteWays route={route} shown={1} />,
    },
    ...(traffic === null ? [] : trafficColumns(traffic)),
    {
      key: 'changed',
      header: 'Changed',
      order: 'updated_at',
      isLargestFirst: true,
      visibleFrom: 'md',
      cell: ({ id, updated_at }) => (
        <TextLink
          to="/routes/$routeId"
          params={{ routeId: id }}
          search={{ tab: 'history' }}
          inherit
        >
          <RelativeTime at={updated_at} />
          <VisuallyHidden>, history</VisuallyHidden>
        </TextLink>
      ),
    },
  ];
}

function trafficColumns(traffic: TrafficOfRoutes | undefined): readonly Column<Route>[] {
  return [
    {
      key: 'requests',
      header: 'Requests, 1 h',
      order: 'requests',
      isLargestFirst: true,
      visibleFrom: 'sm',
      cell: (route) => <RequestsCell route={route} traffic={traffic} />,
    },
    {
      key: 'errors',
      header: 'Errors',
      order: 'error_rate',
      isLargestFirst: true,
      align: 'right',
      cell: (route) => <ErrorRateCell route={route} traffic={traffic} />,
    },
    {
      key: 'p95',
      header: 'p95',
      order: 'p95_ms',
      isLargestFirst: true,
      align: 'right',
      cell: (route) => <P95Cell route={route} traffic={traffic} />,
    },
    {
      key: 'quota',
      header: 'Quota use',
      visibleFrom: 'md',
      cell: (route) => <QuotaCell route={route} traffic={traffic} />,
    },
  ];
}

const SHOWN_VERSIONS = 3;

interface TargetProps {
  readonly route: Route;
  readonly nameOf: (id: string) => string;
}

/** The service, the versions with their shares, which lead to where these are changed, or the answer of the gateway. */
function Target({ route, nameOf }: TargetProps) {
  const { id, name: routeName, service_id: service, versions } = route;
  if (versions === null) return service === null ? answerText(route) : nameOf(service);
  return (
    <TextLink
      to="/routes/$routeId"
      params={{ routeId: id }}
      search={{ tab: 'versions' }}
      inherit
      title={`Versions of ${routeName}`}
    >
      <span className={classes.versions}>
        {versions.slice(0, SHOWN_VERSIONS).map(({ name, weight }) => (
          <Text key={name} span inherit>
            {name}{' '}
            <Text span c="dimmed" inherit>
              {weightText(weight, versions)}
            </Text>{' '}
          </Text>
        ))}
        {versions.length > SHOWN_VERSIONS && (
          <Text span inherit c="dimmed">
            and {versions.length - SHOWN_VERSIONS} more
          </Text>
        )}
      </span>
    </TextLink>
  );
}
