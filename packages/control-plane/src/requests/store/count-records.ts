import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import {
  RECORD_VALUES,
  recordConditions,
  type RecordFilters,
  type RecordValue,
} from './record-conditions.ts';

export interface CountQuery extends RecordFilters {
  /** The length of a step, s. */
  readonly stepSeconds: number;
  /** What is counted beside the statuses; undefined: nothing. */
  readonly by: RecordValue | undefined;
  /** The newest matching records that are counted. */
  readonly maxRecords: number;
}

/** The requests of one step with a status of one class. */
export interface StepCount {
  /** When the step begins, ms since the Unix epoch. */
  readonly atMs: number;
  /** The first digit of the status; null: no status. */
  readonly statusClass: number | null;
  readonly requests: number;
}

/** The requests with one value. */
export interface ValueCount {
  readonly value: string;
  readonly requests: number;
}

export interface RecordCounts {
  readonly steps: readonly StepCount[];
  readonly values: readonly ValueCount[];
  readonly requests: number;
  /** When the oldest counted one arrived, if there are `maxRecords`: older ones were not counted. */
  readonly oldestMs: number | undefined;
}

interface Row {
  readonly at: number | null;
  readonly statusClass: number | null;
  readonly value: string | null;
  readonly requests: number;
  readonly oldest: number;
}

/**
 * Counts the newest records that match every filter. The index of the list serves it, and the LIMIT bounds how many
 * records are read for common values; the caller bounds the time for rare ones.
 */
export async function countRecords(db: Database, query: CountQuery): Promise<RecordCounts> {
  const { stepSeconds, by, maxRecords } = query;
  const conditions = await recordConditions(db, query);
  const value = by === undefined ? sql`NULL::text` : RECORD_VALUES[by];
  const step = sql`floor(extract(epoch FROM received_at) / ${stepSeconds}::float8) * ${stepSeconds}::float8`;
  const { rows } = await sql<Row>`
    WITH matched AS MATERIALIZED (
      SELECT received_at, status, ${value} AS value FROM request_records
      WHERE ${sql.join(conditions, sql` AND `)}
      ORDER BY received_at DESC LIMIT ${maxRecords}
    )
    SELECT (${step})::float8 AS at, status / 100 AS "statusClass", NULL AS value,
      count(*)::float8 AS requests, (extract(epoch FROM min(received_at)) * 1000)::float8 AS oldest
    FROM matched GROUP BY 1, 2
    UNION ALL
    SELECT NULL, NULL, value, count(*)::float8, NULL FROM matched
    WHERE value IS NOT NULL GROUP BY value
  `.execute(db);
  const steps = rows.flatMap(({ at, statusClass, requests }) =>
    at === null ? [] : [{ atMs: at * 1000, statusClass, requests }],
  );
  const requests = steps.reduce((sum, one) => sum + one.requests, 0);
  const oldestMs = Math.min(...rows.flatMap(({ at, oldest }) => (at === null ? [] : [oldest])));
  return {
    steps,
    values: rows.flatMap((row) =>
      row.value === null ? [] : [{ value: row.value, requests: row.requests }],
    ),
    requests,
    oldestMs: requests < maxRecords ? undefined : oldestMs,
  };
}
