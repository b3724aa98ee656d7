import { lossText, type LostTraffic as Lost } from '@gateway/client/lost-traffic';
import { countText } from '@gateway/client/measures';
import { Stack, Text } from '@mantine/core';
import { ShortList } from './short-list.tsx';

interface LostTrafficProps {
  readonly lost: Lost;
  /** The name of the route. */
  readonly route: string;
  readonly serviceName?: (id: string) => string;
}

/** What a change of a route takes away. Several hosts and paths are a list, because a route may have thousands. */
export function LostTraffic({ lost, route, serviceName }: LostTrafficProps) {
  const ways = lost.kind === 'moved' ? [] : lost.ways;
  if (ways.length < 2) return <Text size="sm">{lossText(lost, route, serviceName)}</Text>;
  return (
    <Stack gap={4}>
      <Text size="sm">
        {lost.kind === 'refused' && `${lossText({ ...lost, ways: [] }, route)} `}
        Requests to these {countText(ways.length)} addresses no longer reach {route}:
      </Text>
      <ShortList items={ways} what="addresses" />
    </Stack>
  );
}
