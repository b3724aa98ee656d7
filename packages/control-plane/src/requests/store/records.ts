import { sql, type RawBuilder } from 'kysely';
import type { RecordKind } from '@gateway/shared/records/record';
import type { BatchPlace } from '@gateway/shared/records/record-batch';
import { ROW_POSITIONS } from '@gateway/shared/records/record-row';
import { COMPACT } from '../record-document.ts';
import type { RecordRow } from '../request-record.ts';
import { float8Array, textArray } from '../../store/binary-array.ts';
import {
  MAX_PAGE_BYTES,
  readWithinBytes,
  type BoundedRows,
  type TimeRange,
} from '../../store/bounded-rows.ts';
import { ownHistory, readHistoryBegins } from '../../environments/store/former-environments.ts';
import type { Database } from '../../store/database.ts';
import { isCheckViolation, isUniqueViolation } from '../../store/failures.ts';
import { noteBatches } from './record-batches.ts';
import { addStatistics, type CountedRecord } from '../../statistics/store/add-statistics.ts';

/** A record as a row: the columns for filters, and the other fields as a JSON document in one of its two forms. */
export interface StorableRecord extends CountedRecord {
  readonly id: string;
  /** null: a request of a caller. The others have no statistics. */
  readonly otherKind: string | null;
  readonly document: string;
}

/** What the statement does with a record that exists. */
type OnConflict = 'fail' | 'keep';

/**
 * Stores records, and adds those that were new to the statistics, in one transaction; existing records stay unchanged.
 * They are sorted by key, so two writers of the same records cannot deadlock.
 *
 * Duplicates are rare, and checking for them costs Postgres a fifth of the insert, so they are checked only
 * after a unique violation.
 *
 * @param places of the batches in which they came
 * @returns how many were new.
 */
export async function insertRecords(
  db: Database,
  records: readonly StorableRecord[],
  places: readonly BatchPlace[] = [],
): Promise<number> {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  try {
    return await insertMoved(db, sorted, places, 'fail');
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return insertMoved(db, sorted, places, 'keep');
  }
}

async function insertMoved(
  db: Database,
  sorted: readonly StorableRecord[],
  places: readonly BatchPlace[],
  onConflict: OnConflict,
): Promise<number> {
  try {
    return await insertCounted(db, sorted, places, onConflict);
  } catch (error) {
    // A partition for these rows was created while they waited for the DEFAULT one. Nothing was stored, and
    // the next statement sees the new partition.
    if (!isCheckViolation(error)) throw error;
    return insertCounted(db, sorted, places, onConflict);
  }
}

/** The statistics and the places of the batches come last, because writers wait for each other from there to the commit. */
function insertCounted(
  db: Database,
  sorted: readonly StorableRecord[],
  places: readonly BatchPlace[],
  onConflict: OnConflict,
): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    const added = await insertOnce(transaction, sorted, onConflict);
    await addStatistics(
      transaction,
      added.filter(({ otherKind }) => otherKind === null),
    );
    await noteBatches(transaction, places);
    return added.length;
  });
}

/** @returns the records that were new */
async function insertOnce(
  db: Database,
  sorted: readonly StorableRecord[],
  onConflict: OnConflict,
): Promise<readonly StorableRecord[]> {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO request_records (id, received_at, environment, route, status, outcome, kind, grpc_status, document)
    SELECT
      id, to_timestamp(received_ms / 1000), environment, route, status::integer, outcome,
      kind, grpc_status::smallint, document::jsonb
    FROM unnest(
      ${textArray(sorted.map((record) => record.id))}::text[],
      ${float8Array(sorted.map((record) => record.receivedAtMs))}::float8[],
      ${textArray(sorted.map((record) => record.environment))}::text[],
      ${textArray(sorted.map((record) => record.route))}::text[],
      ${float8Array(sorted.map((record) => record.status))}::float8[],
      ${textArray(sorted.map((record) => record.outcome))}::text[],
      ${textArray(sorted.map((record) => record.otherKind))}::text[],
      ${float8Array(sorted.map((record) => record.grpcStatus))}::float8[],
      ${textArray(sorted.map((record) => record.document))}::text[]
    ) AS r (id, received_ms, environment, route, status, outcome, kind, grpc_status, document)
    ${onConflict === 'keep' ? sql`ON CONFLICT DO NOTHING RETURNING id` : sql``}
  `.execute(db);
  if (onConflict === 'fail') return sorted;
  const byId = new Map(sorted.map((record) => [record.id, record]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}

const COLUMNS = sql`
  id, (extract(epoch FROM received_at) * 1000)::float8 AS "receivedAtMs",
  environment, route, status, outcome, document
`;

/** The record with this id. Its time identifies the partition, so no other one is searched. */
export async function findRecord(
  db: Database,
  id: string,
  receivedAtMs: number,
): Promise<RecordRow | undefined> {
  const { rows } = await sql<RecordRow>`
    SELECT ${COLUMNS} FROM request_records
    WHERE received_at = to_timestamp(${receivedAtMs}::float8 / 1000) AND id = ${id}
  `.execute(db);
  return rows[0];
}

export interface RecordQuery extends TimeRange {
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
 * The records that match every filter, newest first; equal times are ordered by id. Those of a deleted environment are
 * left out unless the caller may see all environments.
 */
export async function listRecords(
  db: Database,
  query: RecordQuery,
): Promise<BoundedRows<RecordRow>> {
  const conditions: RawBuilder<unknown>[] = [
    sql`received_at >= to_timestamp(${query.sinceMs}::float8 / 1000)`,
    isOfKind(query.kind),
  ];
  const { environments, routes, environment, route, status, outcome, untilMs, after } = query;
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
  conditions.push(...documentConditions(query));
  if (untilMs !== undefined) {
    conditions.push(sql`received_at < to_timestamp(${untilMs}::float8 / 1000)`);
  }
  if (after !== undefined) {
    // The first condition is implied by the second; it lets Postgres skip whole partitions.
    conditions.push(
      sql`received_at <= to_timestamp(${after.atMs}::float8 / 1000)`,
      sql`(received_at, id) < (to_timestamp(${after.atMs}::float8 / 1000), ${after.id})`,
    );
  }
  const select = sql`
    SELECT ${COLUMNS} FROM request_records
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY received_at DESC, id DESC LIMIT ${query.limit}
  `;
  return readWithinBytes(db, select, {
    order: sql`"receivedAtMs" DESC, id DESC`,
    bytes: sql`octet_length(document::text)`,
    maxBytes: query.maxBytes ?? MAX_PAGE_BYTES,
  });
}

/**
 * The filters by what only the document has. No index serves them, because each index makes every insert more
 * expensive: `searchByTime` bounds the time that they take.
 */
function documentConditions(query: RecordQuery): RawBuilder<unknown>[] {
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

/** A value of a named or a compact document. */
function textOf(name: string, position: number): RawBuilder<unknown> {
  return sql`coalesce(document->>${sql.lit(name)}, ${compactText(position)})`;
}

/** A value of a compact document; NULL if it is a named one. */
function compactText(position: number): RawBuilder<unknown> {
  return sql`(document->>${sql.lit(position)})`;
}

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
