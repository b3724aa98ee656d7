import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway, serverClock, type RouteTraffic } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { countedText } from '@gateway/client/measures';
import { msText } from '../../ui/ms-text.ts';
import { shareText } from '../../ui/share-text.ts';
import { TextLink } from '../../ui/text-link.tsx';
import { Note, Panel, PanelContent } from './panel.tsx';
import { PERIODS, type PeriodName } from './periods.ts';
import { requestsSince } from './requests-link.ts';
import { Rows } from './rows.tsx';

const SHOWN = 6;
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
      return body.data;
    },
    refetchInterval: Math.max(10_000, everyMs),
  });
}

/** The routes that fail most, and the slowest ones. Each number leads to its requests. */
export function TopRoutes(props: TopRoutesProps) {
  const over = props.period === undefined ? '10 min' : PERIODS[props.period].label;
  return (
    <>
      <TopList
        {...props}
        title="Most errors"
        over={`last ${over}`}
        order="errors"
        nothing="No route had errors."
        keep={({ errors }) => errors > 0}
        filterOf={() => ({ failed: true })}
        valueOf={({ errors, requests }) => [
          `${errors.toLocaleString('en')} of ${requests.toLocaleString('en')}`,
          shareText(errors / requests),
        ]}
      />
      <TopList
        {...props}
        title="Longest p95"
        over={`last ${over}`}
        order="p95_ms"
        nothing="There were no requests."
        keep={() => true}
        filterOf={({ p95_ms: p95 }) => (p95 === null ? {} : { slower: Math.floor(p95) })}
        valueOf={({ p95_ms, requests }) => [
          p95_ms === null ? '–' : msText(p95_ms),
          countedText(requests, 'request'),
        ]}
      />
    </>
  );
}

interface TopListProps extends TopRoutesProps {
  readonly title: string;
  /** The time that is counted. */
  readonly over: string;
  readonly order: Order;
  /** In place of an empty list. */
  readonly nothing: string;
  readonly keep: (one: RouteTraffic) => boolean;
  /** Which requests of the route the row is about. */
  readonly filterOf: (one: RouteTraffic) => { readonly failed?: true; readonly slower?: number };
  readonly valueOf: (one: RouteTraffic) => readonly [value: string, note: string];
}

function TopList(props: TopListProps) {
  const { environment, period, title, over, order, nothing, keep, filterOf, valueOf } = props;
  const { allowed } = useScope('requests:read');
  const query = useQuery({ ...topRoutesQuery({ environment, period }, order), enabled: allowed });
  return (
    <Panel title={title} over={over}>
      <PanelContent scope="requests:read" query={query}>
        {({ from, routes }) => {
          const shown = routes.filter(keep);
          if (shown.length === 0) return <Note>{nothing}</Note>;
          return (
            <Rows items={shown} itemKey={({ route }) => route}>
              {(one) => {
                const search = {
                  route: one.route,
                  ...requestsSince(Date.parse(from)),
                  ...filterOf(one),
                };
                return [
                  <TextLink key="route" to="/requests" search={search} inherit fw={500}>
                    {one.route}
                  </TextLink>,
                  ...valueOf(one),
                ];
              }}
            </Rows>
          );
        }}
      </PanelContent>
    </Panel>
  );
}
