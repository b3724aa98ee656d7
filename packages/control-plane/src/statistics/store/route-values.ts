import { sql, type RawBuilder } from 'kysely';
import type { RouteMeasure } from '../../routes/route-order.ts';
import type { Database } from '../../store/database.ts';
import { MAX_COMPARED, percentile } from './read-route-statistics.ts';
import {
  chosenSeries,
  countedRows,
  DURATION_SUMS,
  ERROR_SUM,
  REQUEST_SUM,
  type CountedRequests,
} from './read-statistics.ts';

/** A row of `routeValues`. */
export interface RouteValue {
  readonly environment: string;
  readonly route: string;
  readonly value: string;
}

const VALUES: Readonly<Record<RouteMeasure, RawBuilder<unknown>>> = {
  requests: sql`summed.requests::numeric`,
  error_rate: sql`summed.errors::numeric / summed.requests`,
  p95_ms: sql`${percentile(0.95)}::numeric`,
};

/**
 * A query of the value of each route that has requests. A percentile takes time, so only the 1000 routes with the most
 * requests have one.
 */
export async function routeValues(
  db: Database,
  query: CountedRequests,
  measure: RouteMeasure,
): Promise<RawBuilder<RouteValue>> {
  const isPercentile = measure === 'p95_ms';
  return sql<RouteValue>`(
    WITH chosen AS MATERIALIZED (${await chosenSeries(db, query)}),
    summed AS (
      SELECT environment, route, ${REQUEST_SUM} AS requests, ${ERROR_SUM} AS errors
        ${isPercentile ? sql`, ${DURATION_SUMS} AS durations` : sql``}
      FROM (${countedRows(query.segments)}) AS counted
      JOIN chosen ON chosen.id = series AND bucket_at >= chosen.counts_from
      WHERE route IS NOT NULL AND environment IS NOT NULL
      GROUP BY environment, route
      ${isPercentile ? sql`ORDER BY requests DESC LIMIT ${MAX_COMPARED}` : sql``}
    )
    SELECT environment, route, ${VALUES[measure]} AS value FROM summed
  )`;
}
