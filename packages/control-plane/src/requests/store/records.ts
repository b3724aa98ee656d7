import { sql } from 'kysely';
import type { BatchPlace } from '@gateway/shared/records/record-batch';
import type { RecordRow } from '../request-record.ts';
import { float8Array, textArray } from '../../store/binary-array.ts';
import {
  MAX_PAGE_BYTES,
  readWithinBytes,
  type BoundedRows,
  type TimeRange,
} from '../../store/bounded-rows.ts';
import type { Database } from '../../store/database.ts';
import { isCheckViolation, isUniqueViolation } from '../../store/failures.ts';
import { recordConditions, type RecordFilters } from './record-conditions.ts';
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

export interface RecordQuery extends RecordFilters, TimeRange {}

/**
 * The records that match every filter, newest first; equal times are ordered by id. Those of a deleted environment are
 * left out unless the caller may see all environments.
 */
export async function listRecords(
  db: Database,
  query: RecordQuery,
): Promise<BoundedRows<RecordRow>> {
  const conditions = [...(await recordConditions(db, query))];
  const { after } = query;
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
