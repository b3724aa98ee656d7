import { useQuery } from '@tanstack/react-query';
import type { Route } from '../../../api/client.ts';
import { countedText } from '@gateway/client/measures';
import { msText } from '../../../ui/ms-text.ts';
import { TextLink } from '../../../ui/text-link.tsx';
import { rateText, shareText } from '../../../ui/share-text.ts';
import { Tile, Tiles } from '../../../ui/tiles.tsx';
import { requestsSince } from '../../overview/requests-link.ts';
import { shareOf, type Traffic } from '../../overview/traffic.ts';
import { QuotaMeter } from '../../routes/quota-meter.tsx';
import { routeTrafficQuery } from '../../routes/routes-query.ts';

interface RouteNumbersProps {
  readonly route: Route;
  /** undefined: it is being loaded. */
  readonly traffic: Traffic | undefined;
}

const MANY_ERRORS = 0.01;
const NOTHING = { requests: 0, errors: 0, requestsPerSecond: 0, p50: null, p95: null, p99: null };

/** The numbers of a route in a period. Those of requests lead to them. */
export function RouteNumbers({ route, traffic }: RouteNumbersProps) {
  const { environment, name } = route;
  const { data: lastHour } = useQuery(routeTrafficQuery(route));
  const sums = traffic?.sums ?? NOTHING;
  const share = shareOf(sums.errors, sums);
  const since = { route: name, environment, ...requestsSince(traffic?.sinceMs ?? 0) };
  const isLoading = traffic === undefined;
  const ms = (value: number | null) => (value === null ? '–' : msText(value));
  return (
    <Tiles>
      <Tile
        name="Requests"
        isLoading={isLoading}
        note={`${rateText(sums.requestsPerSecond)} per second`}
      >
        <TextLink to="/requests" search={since} inherit>
          {sums.requests.toLocaleString('en')}
        </TextLink>
      </Tile>
      <Tile
        name="Error rate"
        isLoading={isLoading}
        note={`${countedText(sums.errors, 'request')} failed`}
      >
        <TextLink
          to="/requests"
          search={{ ...since, failed: true }}
          inherit
          {...((share ?? 0) >= MANY_ERRORS && { c: 'var(--bad)' })}
        >
          {shareText(share)}
        </TextLink>
      </Tile>
      <Tile
        name="p95"
        isLoading={isLoading}
        note={sums.p95 === null ? 'no requests' : `p50 ${ms(sums.p50)}, p99 ${ms(sums.p99)}`}
      >
        {ms(sums.p95)}
      </Tile>
      <Tile
        name="Quota use"
        isLoading={lastHour === undefined}
        isWords={route.rate_limit.per !== 'route'}
        note={
          <TextLink to="/requests" search={{ ...since, error: 'rate_limit_exceeded' }} inherit>
            Requests that got 429
          </TextLink>
        }
      >
        <QuotaMeter route={route} counted={{ steps: lastHour?.byName.get(name)?.steps ?? [] }} />
      </Tile>
    </Tiles>
  );
}
