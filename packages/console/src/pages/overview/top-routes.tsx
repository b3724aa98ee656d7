import { SimpleGrid, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, serverClock, type RouteTraffic } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { countText } from '../../ui/count-text.ts';
import { msText } from '../../ui/ms-text.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { shareText } from './numbers.ts';
import { Note, Panel, PanelContent } from './panel.tsx';
import { PERIODS, type PeriodName } from './periods.ts';
import { Rows } from './rows.tsx';
import { shareOf } from './traffic.ts';

const SHOWN = 5;
/** While the overview is live, these are of the last minutes, so that they do not change too often to be read. */
const LIVE_SECONDS = 600;

interface TopRoutesProps {
  readonly environment: string;
  readonly period: PeriodName | undefined;
}

type Order = 'errors' | 'p95_ms';

function topRoutesQuery({ environment, period }: TopRoutesProps, order: Order) {
  const { seconds, everyMs } =
    period === undefined ? { seconds: LIVE_SECONDS, everyMs: 5000 } : PERIODS[period];
  return queryOptions({
    queryKey: ['traffic', environment, period ?? 'live', 'routes', order],
    queryFn: async ({ signal }) => {
      const from = new Date(serverClock.nowMs() - seconds * 1000).toISOString();
      const query = { environment, from, order, limit: SHOWN };
      const { body } = await gateway.get('/v1/stats/routes', { params: { query }, signal });
      return body.data.routes;
    },
    refetchInterval: Math.max(10_000, everyMs),
  });
}

/** The routes that fail most, and the slowest ones. */
export function TopRoutes(props: TopRoutesProps) {
  const over = props.period === undefined ? '10 min' : PERIODS[props.period].label;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
      <TopList
        {...props}
        title={`Most errors, last ${over}`}
        order="errors"
        nothing="No route had errors."
        keep={({ errors }) => errors > 0}
        valueOf={(one) =>
          `${one.errors.toLocaleString()} of ${one.requests.toLocaleString()}, ${shareText(shareOf(one))}`
        }
      />
      <TopList
        {...props}
        title={`Longest p95, last ${over}`}
        order="p95_ms"
        nothing="There were no requests."
        keep={() => true}
        valueOf={({ p95_ms, requests }) =>
          `${p95_ms === null ? '–' : msText(p95_ms)}, ${countText(requests, 'request')}`
        }
      />
    </SimpleGrid>
  );
}

interface TopListProps extends TopRoutesProps {
  readonly title: string;
  readonly order: Order;
  /** In place of an empty list. */
  readonly nothing: string;
  readonly keep: (one: RouteTraffic) => boolean;
  readonly valueOf: (one: RouteTraffic) => string;
}

function TopList({ environment, period, title, order, nothing, keep, valueOf }: TopListProps) {
  const { allowed } = useScope('requests:read');
  const query = useQuery({
    ...topRoutesQuery({ environment, period }, order),
    enabled: allowed,
  });
  return (
    <Panel title={title}>
      <PanelContent scope="requests:read" query={query}>
        {(routes) => {
          const shown = routes.filter(keep);
          if (shown.length === 0) return <Note>{nothing}</Note>;
          return (
            <Rows items={shown} itemKey={({ route }) => route}>
              {(one) => [
                <TextLink key="route" to="/requests" search={{ route: one.route }} inherit>
                  {one.route}
                </TextLink>,
                <Text key="value" span inherit>
                  {valueOf(one)}
                </Text>,
              ]}
            </Rows>
          );
        }}
      </PanelContent>
    </Panel>
  );
}
