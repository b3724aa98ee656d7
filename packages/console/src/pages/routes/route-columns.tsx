import { Group, Text } from '@mantine/core';
import type { Route } from '../../api/client.ts';
import type { NamedService } from '../../api/service-names.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { RouteTraffic } from './route-traffic.tsx';
import { RouteWays } from './route-ways.tsx';
import { answerText } from './answer-text.ts';
import { weightText } from './weight-text.ts';

/** The columns of the list. */
export function routeColumns(
  services: readonly NamedService[],
  hasTraffic: boolean,
): readonly Column<Route>[] {
  const names = new Map(services.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const traffic: Column<Route> = {
    key: 'traffic',
    header: 'Requests in the last hour',
    visibleFrom: 'sm',
    cell: (route) => <RouteTraffic route={route} />,
  };
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
    { key: 'target', header: 'Service', cell: (route) => <Target route={route} nameOf={nameOf} /> },
    {
      key: 'reached',
      header: 'Reached at',
      visibleFrom: 'md',
      cell: (route) => <RouteWays route={route} shown={1} />,
    },
    ...(hasTraffic ? [traffic] : []),
    {
      key: 'changed',
      header: 'Changed',
      visibleFrom: 'lg',
      cell: ({ updated_at }) => <RelativeTime at={updated_at} />,
    },
  ];
}

const SHOWN_VERSIONS = 3;

interface TargetProps {
  readonly route: Route;
  readonly nameOf: (id: string) => string;
}

/** The service, the versions with their shares, or the answer of the gateway. */
function Target({ route, nameOf }: TargetProps) {
  const { service_id: service, versions } = route;
  if (versions === null) return service === null ? answerText(route) : nameOf(service);
  return (
    <Group gap="xs">
      {versions.slice(0, SHOWN_VERSIONS).map(({ name, weight }) => (
        <Text key={name} size="sm">
          {name} {weightText(weight, versions)}
        </Text>
      ))}
      {versions.length > SHOWN_VERSIONS && (
        <Text size="sm">and {versions.length - SHOWN_VERSIONS} more</Text>
      )}
    </Group>
  );
}
