import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { chosenSeries, countedRows, REQUEST_SUM, type CountedRequests } from './read-statistics.ts';

/** What the series distinguish, as text. */
export const SERIES_VALUES = {
  route: sql`route`,
  outcome: sql`outcome`,
  grpc_status: sql`grpc_status::text`,
} as const;

export type SeriesValue = keyof typeof SERIES_VALUES;

export interface SeriesCountQuery extends CountedRequests {
  readonly stepSeconds: number;
  /** What is counted beside the statuses; undefined: nothing. */
  readonly by: SeriesValue | undefined;
}

/** The requests of one step with a status of one class. */
interface StepCount {
  readonly atMs: number;
  readonly statusClass: number | null;
  readonly requests: number;
}

interface Row {
  readonly at: number | null;
  readonly statusClass: number | null;
  readonly value: string | null;
  readonly requests: number;
}

/** The requests of the period by step and class of status, and by one value. However many they are, few rows are read. */
export async function countSeries(db: Database, query: SeriesCountQuery) {
  const { segments, stepSeconds, by } = query;
  if (segments.length === 0) return { steps: [], values: [] };
  const value = by === undefined ? sql`NULL::text` : SERIES_VALUES[by];
  const step = sql`floor(extract(epoch FROM bucket_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8`;
  const { rows } = await sql<Row>`
    WITH chosen AS MATERIALIZED (${await chosenSeries(db, query)}),
    summed AS MATERIALIZED (
      SELECT (${step})::float8 AS at, status_class, ${value} AS value, ${REQUEST_SUM} AS requests
      FROM (${countedRows(segments)}) AS counted
      JOIN chosen ON chosen.id = series AND bucket_at >= chosen.counts_from
      GROUP BY 1, 2, 3
    )
    SELECT at, status_class AS "statusClass", NULL AS value, sum(requests)::float8 AS requests
    FROM summed GROUP BY 1, 2
    UNION ALL
    SELECT NULL, NULL, value, sum(requests)::float8 FROM summed WHERE value IS NOT NULL GROUP BY value
  `.execute(db);
  return {
    steps: rows.flatMap(({ at, statusClass, requests }): StepCount[] =>
      at === null ? [] : [{ atMs: at * 1000, statusClass, requests }],
    ),
    values: rows.flatMap(({ value: counted, requests }) =>
      counted === null ? [] : [{ value: counted, requests }],
    ),
  };
}
