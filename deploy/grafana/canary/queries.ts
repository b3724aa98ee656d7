import { aboveWhole, Queries, share, type Query } from '../parts/query.ts';
import { FAILED, REQUESTS } from '../parts/requests.ts';

/** The queries about the route that is chosen. */
export const q = new Queries(['environment', 'route']);
/** Those about all routes of the environment. */
export const all = new Queries(['environment']);

/** Requests without a version were refused before one was chosen, or the route has none. */
const VERSIONED = ['version!=""'];
const ROUTE = ['environment', 'route'];
const OF_ROUTE = [...ROUTE, 'version'];
export const BY_VERSION = ['service', 'version'];
const LEGEND = '{{version}} ({{service}})';

export const byVersion = (more: readonly string[] = []) => ({
  by: BY_VERSION,
  where: [...VERSIONED, ...more],
  legend: LEGEND,
});

/** The part of the requests of each version that failed at its upstream. */
export const failedPart: Query = share(
  q.perSecond(REQUESTS, byVersion([FAILED])),
  q.perSecond(REQUESTS, byVersion()),
  LEGEND,
);

/** How much larger the failed part of each version is than that of its whole route, in all routes. */
export const failedAboveRoute: Query = aboveWhole(
  failedOf(OF_ROUTE, '{{environment}} {{route}} {{version}}'),
  failedOf(ROUTE, ''),
  ROUTE,
);

function failedOf(by: readonly string[], legend: string): Query {
  const requests = (more: readonly string[]) =>
    all.perSecond(REQUESTS, { by, where: [...VERSIONED, ...more] });
  return share(requests([FAILED]), requests([]), legend);
}

/** The time that 95 of 100 responses of each version take to begin. */
export function timeToFirstByte(percentile: 50 | 95): Query[] {
  const found = q.percentiles('gateway_time_to_first_byte_seconds', byVersion());
  return found
    .filter(({ legend }) => legend.startsWith(`p${percentile}`))
    .map(({ expr }) => ({ expr, legend: LEGEND }));
}
