import { sql, type RawBuilder } from 'kysely';
import { ERROR_OUTCOMES } from '../error-outcomes.ts';
import { DURATION_BUCKETS } from '../duration-histogram.ts';
import type { Segment } from '../statistics-segments.ts';
import {
  ownHistory,
  readHistoryBegins,
  type HistoryBegin,
} from '../../environments/store/former-environments.ts';
import type { Database } from '../../store/database.ts';

/** The sums of one step for one gRPC status. */
export interface StepSums {
  /** When the step begins, ms since the Unix epoch. */
  readonly atMs: number;
  /** null: those that were no gRPC call, or to which no status came. */
  readonly grpcStatus: number | null;
  /** What `by` names; null: the requests without one, and without `by` all. */
  readonly group: string | null;
  readonly requests: number;
  readonly errors: number;
  /** The requests by bucket of their duration. */
  readonly durations: readonly number[];
}

/** Which requests are counted. */
export interface CountedRequests {
  readonly segments: readonly Segment[];
  /** What the caller may see; undefined: everything, including requests without environment or route. */
  readonly environments: readonly string[] | undefined;
  readonly routes: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly route?: string | undefined;
  /** The names of routes; undefined: of any. */
  readonly named?: readonly string[] | undefined;
  readonly version?: string | undefined;
  readonly serviceId?: string | undefined;
  /** null: no response. */
  readonly statusClass?: number | null | undefined;
  readonly grpcStatus?: number | undefined;
  readonly outcome?: string | undefined;
  /** Only those that count as errors. */
  readonly failed?: 'true' | undefined;
}

export interface StatisticsQuery extends CountedRequests {
  /** The length of a step; undefined: all is one step, which begins at 0. */
  readonly stepSeconds: number | undefined;
  /** What the requests are counted by besides. */
  readonly by?: StatisticsGroup | undefined;
}

/** What requests can be counted by; the name of its column is the same, but for `status`. */
export const STATISTICS_GROUPS = ['version', 'status_class', 'status', 'service_id'] as const;

/** The class of the status, but 429 on its own. */
const STATUS = sql`CASE WHEN is_limited THEN '429' ELSE status_class || 'xx' END`;

export type StatisticsGroup = (typeof STATISTICS_GROUPS)[number];

const COLUMNS = Array.from({ length: DURATION_BUCKETS }, (_, index) => `d${index}`);
/** The requests by bucket of their duration. */
export const DURATION_SUMS = sql`ARRAY[${sql.raw(
  COLUMNS.map((name) => `coalesce(sum(${name}), 0)`).join(', '),
)}]`;
export const REQUEST_SUM = sql`sum(requests)`;
export const ERROR_SUM = sql`coalesce(sum(requests) FILTER (WHERE is_error), 0)`;

/**
 * The sums of the requests that match every filter, by step, gRPC status and what `by` names, in the order of the steps.
 * Those without a request are left out.
 */
export async function readStatistics(
  db: Database,
  query: StatisticsQuery,
): Promise<readonly StepSums[]> {
  const { segments, stepSeconds, by } = query;
  if (segments.length === 0) return [];
  const group = by === undefined ? sql`NULL` : by === 'status' ? STATUS : sql.ref(by);
  const step =
    stepSeconds === undefined
      ? sql`0::float8`
      : sql`floor(extract(epoch FROM bucket_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8`;
  const { rows } = await sql<SumRow & Pick<StepSums, 'grpcStatus' | 'group'> & { at: number }>`
    WITH chosen AS MATERIALIZED (${await chosenSeries(db, query)})
    SELECT ${step}::float8 AS at, grpc_status AS "grpcStatus", ${group}::text AS "group",
      ${REQUEST_SUM}::text AS requests, ${ERROR_SUM}::text AS errors, ${DURATION_SUMS}::text AS durations
    FROM (${countedRows(segments)}) AS counted
    JOIN chosen ON chosen.id = series AND bucket_at >= chosen.counts_from
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  `.execute(db);
  return rows.map(({ at, grpcStatus, group: its, ...sums }) => ({
    atMs: at * 1000,
    grpcStatus,
    group: its,
    ...sumsOf(sums),
  }));
}

/** Sums as Postgres returns them. */
export interface SumRow {
  readonly requests: string;
  readonly errors: string;
  readonly durations: string;
}

/** Reads the sums of a row. */
export function sumsOf({
  requests,
  errors,
  durations,
}: SumRow): Omit<StepSums, 'atMs' | 'grpcStatus' | 'group'> {
  return {
    requests: Number(requests),
    errors: Number(errors),
    durations: durations.slice(1, -1).split(',').map(Number),
  };
}

/**
 * The series of the requests that are counted, and from when on they are. Those of a deleted environment are left out
 * unless the caller may see all environments.
 */
export async function chosenSeries(
  db: Database,
  query: CountedRequests,
): Promise<RawBuilder<unknown>> {
  const begins = await readHistoryBegins(db, query.environments);
  const conditions = [
    ...conditionsOf(query),
    ...ownHistory(begins, (name) => sql`environment = ${name}`, isOwnSeries),
  ];
  return sql`
    SELECT id, environment, route, version, service_id, status_class, is_limited, grpc_status, outcome,
      ${countsFrom(begins)} AS counts_from,
      ${IS_ERROR} AS is_error
    FROM statistics_series WHERE ${sql.join(conditions, sql` AND `)}
  `;
}

const IS_ERROR = sql`coalesce(
  status_class = 5 AND outcome <> 'success' OR outcome = ANY(${[...ERROR_OUTCOMES]}::text[]), false
)`;

/** See `add-statistics.ts` for which series have an id of their environment. */
function isOwnSeries({ id, firstChange, unplacedFrom }: HistoryBegin): RawBuilder<unknown> {
  if (firstChange === null) return sql`false`;
  return unplacedFrom === undefined ? sql`environment_id = ${id}` : sql`environment_id IS NULL`;
}

/** Of an environment that was created again before series had its id: the buckets since then. */
function countsFrom(begins: readonly HistoryBegin[]): RawBuilder<unknown> {
  const cases = begins.flatMap(({ environment, unplacedFrom }) =>
    unplacedFrom === undefined
      ? []
      : [sql`WHEN environment = ${environment} THEN ${unplacedFrom}::timestamptz`],
  );
  if (cases.length === 0) return sql`'-infinity'::timestamptz`;
  return sql`CASE ${sql.join(cases, sql` `)} ELSE '-infinity' END`;
}

/** The rows of the period. */
export function countedRows(segments: readonly Segment[]): RawBuilder<unknown> {
  return sql.join(segments.map(rowsOf), sql` UNION ALL `);
}

/** Times are literals, so that Postgres plans only the partitions of the segment. */
function rowsOf({ resolution, fromMs, toMs }: Segment): RawBuilder<unknown> {
  const literal = (ms: number) => sql.lit(new Date(ms).toISOString());
  return sql`
    SELECT * FROM request_statistics
    WHERE resolution = ${sql.lit(resolution)}
      AND bucket_at >= ${literal(fromMs)}::timestamptz AND bucket_at < ${literal(toMs)}::timestamptz
  `;
}

function conditionsOf(query: CountedRequests): RawBuilder<unknown>[] {
  const { environments, routes, environment, route, version, serviceId, outcome } = query;
  const conditions: RawBuilder<unknown>[] = [sql`true`];
  if (environments !== undefined) {
    conditions.push(sql`environment = ANY(${[...environments]}::text[])`);
  }
  if (routes !== undefined) conditions.push(sql`route = ANY(${[...routes]}::text[])`);
  if (environment !== undefined) conditions.push(sql`environment = ${environment}`);
  if (route !== undefined) conditions.push(sql`route = ${route}`);
  if (query.named !== undefined) conditions.push(sql`route = ANY(${[...query.named]}::text[])`);
  if (version !== undefined) conditions.push(sql`version = ${version}`);
  if (serviceId !== undefined) conditions.push(sql`service_id = ${serviceId}`);
  if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (query.failed !== undefined) conditions.push(IS_ERROR);
  if (query.grpcStatus !== undefined) conditions.push(sql`grpc_status = ${query.grpcStatus}`);
  if (query.statusClass === null) conditions.push(sql`status_class IS NULL`);
  else if (query.statusClass !== undefined) {
    conditions.push(sql`status_class = ${query.statusClass}`);
  }
  return conditions;
}
