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

/** The counts of a step of a route. */
export interface RouteStep {
  /** When it begins, ms since the Unix epoch. */
  readonly atMs: number;
  readonly requests: number;
  readonly errors: number;
  readonly rejected: number;
}

/** The sums of one route. */
export interface RouteSums extends Sums {
  readonly environment: string | null;
  readonly route: string;
  /** The requests that the gateway refused. */
  readonly rejected: number;
  /** Empty if no length was given. */
  readonly steps: readonly RouteStep[];
}

export interface RouteStatisticsQuery extends CountedRequests {
  /** The length of a step; undefined: no steps. */
  readonly stepSeconds?: number | undefined;
  readonly order: RouteOrder;
  readonly limit: number;
}

/** A percentile of a route takes Postgres 0.2 ms, so only those of the busiest ones are compared. */
export const MAX_COMPARED = 1000;

/** The bucket of the histogram that has the request of this rank. */
export const percentile = (share: number) => sql`(
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
  error_rate: sql`summed.errors::numeric / summed.requests`,
  p95_ms: percentile(0.95),
};

const REJECTED_SUM = sql`coalesce(sum(requests) FILTER (WHERE outcome = 'rejected'), 0)`;

interface RouteRow extends SumRow {
  readonly environment: string | null;
  readonly route: string;
  readonly rejected: string;
  /** Rows of numbers: the begin in s, requests, errors, rejected; null: no steps were asked for. */
  readonly steps: readonly (readonly [number, number, number, number])[] | null;
}

/** The routes with the most of what the order says, most first; then those with more requests, then by name. */
export async function readRouteStatistics(
  db: Database,
  query: RouteStatisticsQuery,
): Promise<readonly RouteSums[]> {
  const { segments, order, limit, stepSeconds } = query;
  if (segments.length === 0) return [];
  const { rows } = await sql<RouteRow>`
    WITH chosen AS MATERIALIZED (${await chosenSeries(db, query)}),
    counted AS ${stepSeconds === undefined ? sql`NOT MATERIALIZED` : sql`MATERIALIZED`} (
      SELECT * FROM (${countedRows(segments)}) AS sums
      JOIN chosen ON chosen.id = series AND bucket_at >= chosen.counts_from
      WHERE route IS NOT NULL
    ),
    summed AS (
      SELECT environment, route, ${REQUEST_SUM} AS requests, ${ERROR_SUM} AS errors,
        ${REJECTED_SUM} AS rejected, ${DURATION_SUMS} AS durations
      FROM counted
      GROUP BY environment, route
      ${order === 'p95_ms' ? sql`ORDER BY requests DESC LIMIT ${MAX_COMPARED}` : sql``}
    )
    SELECT environment, route, requests::text, errors::text, rejected::text, durations::text,
      ${stepSeconds === undefined ? sql`NULL` : stepsOf(stepSeconds)} AS steps
    FROM summed
    ORDER BY ${ORDERS[order]} DESC, summed.requests DESC, environment, route
    LIMIT ${limit}
  `.execute(db);
  return rows.map(({ environment, route, rejected, steps, ...sums }) => ({
    environment,
    route,
    ...sumsOf(sums),
    rejected: Number(rejected),
    steps: (steps ?? []).map(([at, requests, errors, refused]) => {
      return { atMs: at * 1000, requests, errors, rejected: refused };
    }),
  }));
}

/** The steps of the route `summed`. */
function stepsOf(stepSeconds: number): RawBuilder<unknown> {
  const at = sql`floor(extract(epoch FROM bucket_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8`;
  return sql`(
    SELECT json_agg(json_build_array(at, requests, errors, rejected) ORDER BY at) FROM (
      SELECT ${at} AS at, ${REQUEST_SUM} AS requests, ${ERROR_SUM} AS errors, ${REJECTED_SUM} AS rejected
      FROM counted
      WHERE counted.route = summed.route AND counted.environment IS NOT DISTINCT FROM summed.environment
      GROUP BY 1
    ) AS stepped
  )`;
}
