import { sql, type RawBuilder } from 'kysely';
import { ROW_POSITIONS } from '@gateway/shared/records/record-row';
import { COMPACT } from '../record-document.ts';
import { RECORD_VALUES, recordConditions } from './record-conditions.ts';
import type { Database } from '../../store/database.ts';
import type { CallerOrder } from '../../statistics/caller-statistics.ts';
import { ERROR_OUTCOMES } from '../../statistics/error-outcomes.ts';

export interface CallerStatisticsQuery {
  /** ms since the Unix epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** What the caller of the API may see; undefined: everything. */
  readonly environments: readonly string[] | undefined;
  readonly routes: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly route?: string | undefined;
  readonly token_id?: string | undefined;
  readonly order: CallerOrder;
  readonly limit: number;
  /** The newest records are counted, and no more than these. */
  readonly maxRecords: number;
}

/** A quota as a request found it. */
export interface UsedQuota {
  readonly environment: string;
  readonly route: string;
  readonly limit: number;
  readonly remaining: number;
  /** ms since the Unix epoch. */
  readonly atMs: number;
}

export interface CallerSums {
  readonly tokenId: string | null;
  readonly subject: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly rateLimited: number;
  readonly p95Ms: number;
  readonly lastMs: number;
  readonly quota: UsedQuota | null;
}

export interface CountedCallers {
  readonly callers: readonly CallerSums[];
  readonly requests: number;
  /** When the oldest counted record arrived, ms since the Unix epoch; undefined: none was counted. */
  readonly oldestMs: number | undefined;
}

/** The text of the row of a compact document as JSON; NULL for a named one. */
const ROW = sql`(document->>${sql.lit(COMPACT.row)})::jsonb`;
const ROW_OF_RECORD = sql.raw('row_of_record');

const ORDERS: Readonly<Record<CallerOrder, RawBuilder<unknown>>> = {
  requests: sql`requests`,
  errors: sql`errors`,
  rate_limited: sql`rate_limited`,
  quota_used: sql`coalesce(used, -1)`,
};

interface Row extends Omit<CallerSums, 'quota'> {
  readonly quota: UsedQuota | null;
  readonly counted: number;
  readonly oldestMs: number;
}

/** The callers with the most of what the order says, most first; then those with more requests. */
export async function readCallerStatistics(
  db: Database,
  query: CallerStatisticsQuery,
): Promise<CountedCallers> {
  const { fromMs, toMs, order, limit, maxRecords, ...filters } = query;
  const conditions = await recordConditions(db, { ...filters, sinceMs: fromMs, untilMs: toMs });
  const { rows } = await sql<Row>`
    WITH matched AS MATERIALIZED (
      SELECT received_at, environment, route, status, outcome, ${RECORD_VALUES.token_id} AS token_id,
        ${RECORD_VALUES.error_code} AS error_code, document, ${ROW} AS row_of_record
      FROM request_records
      WHERE ${sql.join(conditions, sql` AND `)}
      ORDER BY received_at DESC LIMIT ${maxRecords}
    ),
    read AS MATERIALIZED (
      SELECT received_at, environment, route, status, outcome, token_id, error_code,
        CASE WHEN token_id IS NULL THEN coalesce(document->>'subject', ${inRow('subject')}) END AS subject,
        coalesce((document->'timing'->>'total_ms')::float8, (document->>${sql.lit(COMPACT.totalUs)})::float8 / 1000) AS total_ms,
        coalesce((document->'rate_limit'->>'limit')::float8, (${quotaInRow}->>0)::float8) AS quota_limit,
        coalesce((document->'rate_limit'->>'remaining')::float8, (${quotaInRow}->>1)::float8) AS quota_remaining
      FROM matched
    ),
    used AS (
      SELECT *, CASE WHEN quota_limit > 0 AND environment IS NOT NULL AND route IS NOT NULL
        THEN 1 - quota_remaining / quota_limit END AS used
      FROM read
    ),
    summed AS (
      SELECT token_id, subject, count(*)::float8 AS requests,
        count(*) FILTER (
          WHERE status >= 500 AND outcome <> 'success' OR outcome = ANY(${[...ERROR_OUTCOMES]}::text[])
        )::float8 AS errors,
        count(*) FILTER (WHERE error_code = 'rate_limit_exceeded')::float8 AS rate_limited,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95_ms,
        max(received_at) AS last_at, max(used) AS used,
        (array_agg(
          jsonb_build_object('environment', environment, 'route', route, 'limit', quota_limit,
            'remaining', quota_remaining, 'atMs', ${epochMs(sql`received_at`)})
          ORDER BY used DESC, received_at DESC
        ) FILTER (WHERE used IS NOT NULL))[1] AS quota
      FROM used GROUP BY token_id, subject
    )
    SELECT token_id AS "tokenId", subject, requests, errors, rate_limited AS "rateLimited",
      p95_ms AS "p95Ms", ${epochMs(sql`last_at`)} AS "lastMs", quota,
      (SELECT count(*) FROM matched)::float8 AS counted,
      ${epochMs(sql`(SELECT min(received_at) FROM matched)`)} AS "oldestMs"
    FROM summed
    ORDER BY ${ORDERS[order]} DESC, requests DESC, token_id, subject
    LIMIT ${limit}
  `.execute(db);
  return {
    callers: rows.map(({ counted: _all, oldestMs: _oldest, ...caller }) => caller),
    requests: rows[0]?.counted ?? 0,
    oldestMs: rows[0]?.oldestMs,
  };
}

function inRow(name: 'subject'): RawBuilder<unknown> {
  return sql`${ROW_OF_RECORD}->>${sql.lit(ROW_POSITIONS[name])}`;
}

const quotaInRow = sql`(${ROW_OF_RECORD}->${sql.lit(ROW_POSITIONS.quota)})`;

function epochMs(time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(extract(epoch FROM ${time}) * 1000)::float8`;
}
