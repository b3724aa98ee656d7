import { Group, Skeleton, Text } from '@mantine/core';
import type { Route, RouteTraffic } from '../../api/client.ts';
import { countedText } from '@gateway/client/measures';
import { msText } from '../../ui/ms-text.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { errorTone } from '../../ui/error-share.tsx';
import { NoValue } from '../../ui/no-value.tsx';
import { rateText, shareText } from '../../ui/share-text.ts';
import { minuteCounts } from './minute-counts.ts';
import { QuotaMeter } from './quota-meter.tsx';
import type { TrafficOfRoutes } from './routes-query.ts';
import classes from './traffic-cells.module.css';

interface TrafficCellProps {
  readonly route: Route;
  /** undefined: it is being loaded. */
  readonly traffic: TrafficOfRoutes | undefined;
}

const HOUR_S = 3600;

function trafficOf({ route, traffic }: TrafficCellProps): RouteTraffic | undefined {
  return traffic?.byName.get(route.name);
}

/** The search of the list of requests for those of the same hour. */
function lastHourOf({ name, environment }: Route) {
  return { route: name, environment, period: '1h' as const };
}

/** The course of the requests, and how many there were. */
export function RequestsCell(props: TrafficCellProps) {
  const { traffic, route } = props;
  if (traffic === undefined) return <Skeleton height={16} width={150} />;
  const own = trafficOf(props);
  if (own === undefined) return <Text c="dimmed">no requests</Text>;
  const { requests, errors } = minuteCounts({ ...traffic, steps: own.steps });
  return (
    <Group gap="xs" wrap="nowrap">
      <Sparkline
        label="Requests by minute"
        values={requests}
        errors={errors}
        width={88}
        height={20}
      />
      <TextLink
        to="/requests"
        search={lastHourOf(route)}
        inherit
        className={classes.rate ?? ''}
        title={`${rateText(own.requests / HOUR_S)} per second`}
        aria-label={`${countedText(own.requests, 'request')} of ${route.name} in the last hour`}
      >
        {own.requests.toLocaleString('en')}
      </TextLink>
    </Group>
  );
}

/** The part of the requests that failed, which leads to them. */
export function ErrorRateCell(props: TrafficCellProps) {
  const { route } = props;
  const own = trafficOf(props);
  if (own === undefined) return <NoValue />;
  if (own.errors === 0) return <Text c="dimmed">0 %</Text>;
  const share = own.errors / own.requests;
  return (
    <TextLink
      to="/requests"
      search={{ ...lastHourOf(route), failed: true }}
      inherit
      {...errorTone(share)}
      title={`${countedText(own.errors, 'request')} failed in the last hour`}
      aria-label={`${shareText(share)} of the requests of ${route.name} failed`}
    >
      {shareText(share)}
    </TextLink>
  );
}

/** How long all but the slowest of twenty requests took at most. */
export function P95Cell(props: TrafficCellProps) {
  const ms = trafficOf(props)?.p95_ms ?? null;
  return ms === null ? <NoValue /> : msText(ms);
}

/** How near the route came to 429. */
export function QuotaCell(props: TrafficCellProps) {
  const { route, traffic } = props;
  if (traffic === undefined) return <Skeleton height={16} width={80} />;
  const steps = trafficOf(props)?.steps ?? [];
  return <QuotaMeter route={route} counted={{ ...traffic, steps }} />;
}
