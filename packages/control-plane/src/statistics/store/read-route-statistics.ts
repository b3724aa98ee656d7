import { sql, type RawBuilder } from 'kysely';
import type { Sums } from '../statistics.ts';
import type { RouteOrder } from '../route-statistics.ts';
import type { Database } from '../../store/database.ts';
import {
  chosenSeries,
  countedRows,
  DURATION_SUMS,
  ERROR_SUM,
  REQUEST_SUM,
  sumsOf,
  type CountedRequests,
  type SumRow,
} from './read-statistics.ts';

/** The sums of one route. */
export interface RouteSums extends Sums {
  readonly environment: string | null;
  readonly route: string;
}

export interface RouteStatisticsQuery extends CountedRequests {
  readonly order: RouteOrder;
  readonly limit: number;
}

/** A percentile of a route takes Postgres 0.2 ms, so only those of the busiest ones are compared. */
const MAX_COMPARED = 1000;

/** The bucket of the histogram that has the request of this rank. */
const percentile = (share: number) => sql`(
  SELECT min(bucket) FROM (
    SELECT bucket, sum(requests) OVER (ORDER BY bucket) AS below
    FROM unnest(durations) WITH ORDINALITY AS histogram (requests, bucket)
  ) AS cumulated
  WHERE below >= greatest(1, ceil(summed.requests * ${sql.lit(share)}))
)`;

/** Without the table, the names would mean the texts that are selected, and 98 would come before 376. */
const ORDERS: Readonly<Record<RouteOrder, RawBuilder<unknown>>> = {
  requests: sql`summed.requests`,
  errors: sql`summed.errors`,
  p95_ms: percentile(0.95),
};

/** The routes with the most of what the order says, most first; then those with more requests, then by name. */
export async function readRouteStatistics(
  db: Database,
  query: RouteStatisticsQuery,
): Promise<readonly RouteSums[]> {
  const { segments, order, limit } = query;
  if (segments.length === 0) return [];
  const { rows } = await sql<SumRow & Pick<RouteSums, 'environment' | 'route'>>`
    WITH chosen AS MATERIALIZED (${await chosenSeries(db, query)}),
    summed AS (
      SELECT environment, route, ${REQUEST_SUM} AS requests, ${ERROR_SUM} AS errors,
        ${DURATION_SUMS} AS durations
      FROM (${countedRows(segments)}) AS counted
      JOIN chosen ON chosen.id = series AND bucket_at >= chosen.counts_from
      WHERE route IS NOT NULL
      GROUP BY environment, route
      ${order === 'p95_ms' ? sql`ORDER BY requests DESC LIMIT ${MAX_COMPARED}` : sql``}
    )
    SELECT environment, route, requests::text, errors::text, durations::text FROM summed
    ORDER BY ${ORDERS[order]} DESC, summed.requests DESC, environment, route
    LIMIT ${limit}
  `.execute(db);
  return rows.map(({ environment, route, ...sums }) => ({ environment, route, ...sumsOf(sums) }));
}
