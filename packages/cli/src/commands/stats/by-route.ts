import { countText } from '@gateway/client/measures';
import type { components } from '@gateway/client';
import { checkEnvironment } from '../../lookup/check-environment.ts';
import type { Column } from '../../output/table.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import { optionalMs, shareText } from './statistics-lines.ts';

type RouteCounts = components['schemas']['RouteStatistics']['routes'][number];

/** Which routes come first, and what the API calls it. */
export const ROUTE_ORDERS = {
  requests: 'requests',
  errors: 'errors',
  'error-rate': 'error_rate',
  p95: 'p95_ms',
} as const;
export type RouteOrder = keyof typeof ROUTE_ORDERS;

/** The most that the API has of them. */
const MAX_ROUTES = 200;

/** Options that count a part of the requests, which the counts by route do not have. */
const PARTS = ['step', 'routeVersion', 'service', 'status', 'grpcStatus', 'outcome'] as const;

interface Options extends Readonly<Partial<Record<(typeof PARTS)[number], unknown>>> {
  readonly since: string;
  readonly until?: string;
  readonly order?: RouteOrder;
}

/** Prints a row for each route. @throws UsageError if options ask for more than such rows have */
export async function printByRoute(
  session: Session,
  route: string | undefined,
  options: Options,
): Promise<void> {
  if (route !== undefined)
    throw new UsageError('--by route counts all routes; leave the route out');
  if (PARTS.some((name) => options[name] !== undefined)) {
    throw new UsageError('--by route takes --since, --until and --order only');
  }
  const { environment } = session;
  const { since: from, until: to, order = 'requests' } = options;
  await checkEnvironment(session);
  const query = {
    from,
    order: ROUTE_ORDERS[order],
    limit: MAX_ROUTES,
    ...(environment === undefined ? {} : { environment }),
    ...(to === undefined ? {} : { to }),
  };
  const { body } = await session.client.get('/v1/stats/routes', { params: { query } });
  await session.printList(body.data.routes, COLUMNS, 'requests to routes');
}

const COLUMNS: readonly Column<RouteCounts>[] = [
  { title: 'ROUTE', shrinks: 20, of: ({ route }) => route },
  { title: 'ENVIRONMENT', leftOut: 1, of: ({ environment }) => environment },
  { title: 'REQUESTS', of: ({ requests }) => countText(requests) },
  {
    title: 'ERRORS',
    of: ({ errors }) => countText(errors),
    style: ({ errors }) => (errors > 0 ? 'red' : undefined),
  },
  { title: 'SHARE', of: shareText },
  { title: 'REFUSED', of: ({ rejected }) => countText(rejected) },
  { title: 'P50', leftOut: 2, of: ({ p50_ms }) => optionalMs(p50_ms) },
  { title: 'P95', of: ({ p95_ms }) => optionalMs(p95_ms) },
  { title: 'P99', leftOut: 3, of: ({ p99_ms }) => optionalMs(p99_ms) },
];
