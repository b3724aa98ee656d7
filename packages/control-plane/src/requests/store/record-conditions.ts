import { sql, type RawBuilder } from 'kysely';
import type { RecordKind } from '@gateway/shared/records/record';
import { ROW_POSITIONS } from '@gateway/shared/records/record-row';
import { ERROR_OUTCOMES } from '../../statistics/error-outcomes.ts';
import { ownHistory, readHistoryBegins } from '../../environments/store/former-environments.ts';
import type { TimeRange } from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import { COMPACT } from '../record-document.ts';

/** Which records are wanted. */
export interface RecordFilters extends Pick<TimeRange, 'sinceMs' | 'untilMs'> {
  /** What the caller may see; undefined: everything, including records without environment or route. */
  readonly environments: readonly string[] | undefined;
  readonly routes: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  /** The first digit of the status; null: no status. */
  readonly statusClass?: number | null | undefined;
  readonly grpc_status?: number | undefined;
  readonly outcome?: string | undefined;
  /** Only those that count as errors, as the statistics count them. */
  readonly failed?: 'true' | undefined;
  /** undefined: the requests of callers. */
  readonly kind?: RecordKind | undefined;
  readonly token_id?: string | undefined;
  readonly method?: string | undefined;
  readonly error_code?: string | undefined;
  /** The id or the URL of the upstream of the last attempt. */
  readonly upstream?: string | undefined;
  readonly min_duration_ms?: number | undefined;
}

/**
 * The conditions of records that match every filter. Those of a deleted environment are left out unless the caller may see
 * all environments.
 */
export async function recordConditions(
  db: Database,
  query: RecordFilters,
): Promise<readonly RawBuilder<unknown>[]> {
  const conditions: RawBuilder<unknown>[] = [
    sql`received_at >= to_timestamp(${query.sinceMs}::float8 / 1000)`,
    isOfKind(query.kind),
  ];
  const { environments, routes, environment, route, status, outcome, untilMs } = query;
  if (environments !== undefined) conditions.push(isOneOf(sql`environment`, environments));
  if (routes !== undefined) conditions.push(isOneOf(sql`route`, routes));
  conditions.push(
    ...ownHistory(
      await readHistoryBegins(db, environments),
      (name) => sql`environment = ${name}`,
      ({ firstVersion }) => sql`${CONFIG_VERSION} >= ${firstVersion}::float8`,
    ),
  );
  if (environment !== undefined) conditions.push(sql`environment = ${environment}`);
  if (route !== undefined) conditions.push(sql`route = ${route}`);
  if (status !== undefined) conditions.push(sql`status = ${status}`);
  if (query.statusClass !== undefined) conditions.push(isOfClass(query.statusClass));
  if (query.grpc_status !== undefined) conditions.push(sql`grpc_status = ${query.grpc_status}`);
  if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (query.failed !== undefined) conditions.push(IS_ERROR);
  conditions.push(...documentConditions(query));
  if (untilMs !== undefined) {
    conditions.push(sql`received_at < to_timestamp(${untilMs}::float8 / 1000)`);
  }
  return conditions;
}

/**
 * The filters by what only the document has. No index serves them, because each index makes every insert more
 * expensive: `searchByTime` bounds the time that they take.
 */
function documentConditions(query: RecordFilters): RawBuilder<unknown>[] {
  const { token_id, method, error_code, upstream, min_duration_ms } = query;
  const conditions: RawBuilder<unknown>[] = [];
  if (token_id !== undefined) {
    conditions.push(sql`${textOf('token_id', COMPACT.tokenId)} = ${token_id}`);
  }
  if (method !== undefined) conditions.push(sql`${textOf('method', COMPACT.method)} = ${method}`);
  if (error_code !== undefined) {
    conditions.push(sql`${textOf('error_code', COMPACT.errorCode)} = ${error_code}`);
  }
  if (upstream !== undefined) {
    const values = [
      sql`document->'upstream'->>'id'`,
      sql`document->'upstream'->>'url'`,
      compactText(COMPACT.upstreamId),
      compactText(COMPACT.upstreamUrl),
    ];
    conditions.push(sql`${upstream} IN (${sql.join(values)})`);
  }
  if (min_duration_ms !== undefined) {
    const named = sql`(document->'timing'->>'total_ms')::float8`;
    const compact = sql`${compactText(COMPACT.totalUs)}::float8 / 1000`;
    conditions.push(sql`coalesce(${named}, ${compact}) >= ${min_duration_ms}::float8`);
  }
  return conditions;
}

/** The values of a record that counts are grouped by, as text. */
export const RECORD_VALUES = {
  route: sql`route`,
  status: sql`status::text`,
  outcome: sql`outcome`,
  grpc_status: sql`grpc_status::text`,
  method: textOf('method', COMPACT.method),
  error_code: textOf('error_code', COMPACT.errorCode),
  token_id: textOf('token_id', COMPACT.tokenId),
  upstream: sql`coalesce(document->'upstream'->>'url', ${compactText(COMPACT.upstreamUrl)})`,
} as const;

export type RecordValue = keyof typeof RECORD_VALUES;

/** A value of a named or a compact document. */
function textOf(name: string, position: number): RawBuilder<unknown> {
  return sql`coalesce(document->>${sql.lit(name)}, ${compactText(position)})`;
}

/** A value of a compact document; NULL if it is a named one. */
function compactText(position: number): RawBuilder<unknown> {
  return sql`(document->>${sql.lit(position)})`;
}

/** The first condition lets Postgres use the index of outcomes. */
const IS_ERROR = sql`outcome <> 'success' AND (
  status >= 500 OR outcome IN (${sql.join(ERROR_OUTCOMES.map((outcome) => sql.lit(outcome)))})
)`;

/** The version of the configuration that served the request. */
const CONFIG_VERSION = sql`coalesce(
  document->>'config_version', ${compactText(COMPACT.row)}::jsonb->>${sql.lit(ROW_POSITIONS.configVersion)}
)::float8`;

function isOfKind(kind: RecordKind = 'request'): RawBuilder<unknown> {
  return kind === 'request' ? sql`kind IS NULL` : sql`kind = ${kind}`;
}

function isOfClass(statusClass: number | null): RawBuilder<unknown> {
  if (statusClass === null) return sql`status IS NULL`;
  const first = statusClass * 100;
  return sql`status BETWEEN ${first}::integer AND ${first + 99}::integer`;
}

/** With one value an index yields the rows in the order of the list; with several it does not. */
function isOneOf(column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<unknown> {
  const [first] = values;
  return values.length === 1 ? sql`${column} = ${first}` : sql`${column} = ANY(${values}::text[])`;
}
