import { sql, type RawBuilder } from 'kysely';
import type { RecordRow } from '../domain/request-view.ts';
import type { Database } from './database.ts';
import { isCheckViolation } from './failures.ts';

/** A record as a row: the columns that lists filter by, and the rest as the text of a JSON object. */
export interface StorableRecord {
  readonly id: string;
  /** The time within the id, ms since the Unix epoch. */
  readonly receivedAtMs: number;
  readonly environment: string | null;
  readonly route: string | null;
  readonly status: number | null;
  readonly outcome: string;
  readonly document: string;
}

/**
 * Stores records in one statement; those that are there already stay as they are.
 * They go in the order of the key, so two writers of the same records cannot wait for each other.
 *
 * @returns how many were new.
 */
export async function insertRecords(
  db: Database,
  records: readonly StorableRecord[],
): Promise<number> {
  try {
    return await insertOnce(db, records);
  } catch (error) {
    // A partition was made for these rows while they waited to get into the DEFAULT one. Nothing was
    // stored, and the next statement sees the new partition.
    if (!isCheckViolation(error)) throw error;
    return insertOnce(db, records);
  }
}

async function insertOnce(db: Database, records: readonly StorableRecord[]): Promise<number> {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const { numAffectedRows } = await sql`
    INSERT INTO request_records (id, received_at, environment, route, status, outcome, document)
    SELECT id, to_timestamp(received_ms / 1000), environment, route, status, outcome, document::jsonb
    FROM unnest(
      ${sorted.map((record) => record.id)}::text[],
      ${sorted.map((record) => record.receivedAtMs)}::float8[],
      ${sorted.map((record) => record.environment)}::text[],
      ${sorted.map((record) => record.route)}::text[],
      ${sorted.map((record) => record.status)}::integer[],
      ${sorted.map((record) => record.outcome)}::text[],
      ${sorted.map((record) => record.document)}::text[]
    ) AS r (id, received_ms, environment, route, status, outcome, document)
    ON CONFLICT DO NOTHING
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

const COLUMNS = sql`
  id, (extract(epoch FROM received_at) * 1000)::float8 AS "receivedAtMs",
  environment, route, status, outcome, document
`;

/** The record of this id. Its time finds the partition, so no other one is looked at. */
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

export interface RecordQuery {
  /** What the caller may see; undefined is everything, also what has no environment or route. */
  readonly environments: readonly string[] | undefined;
  readonly routes: readonly string[] | undefined;
  readonly environment?: string | undefined;
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly outcome?: string | undefined;
  /** From this time on, ms since the Unix epoch. */
  readonly sinceMs: number;
  /** Before this time, ms since the Unix epoch. */
  readonly untilMs?: number | undefined;
  /** Only what comes after this record in the list: the last one of the page before. */
  readonly after?: { readonly id: string; readonly receivedAtMs: number } | undefined;
  readonly limit: number;
}

/** Records, newest first, that pass every filter. Equal times are ordered by id. */
export async function listRecords(db: Database, query: RecordQuery): Promise<readonly RecordRow[]> {
  const conditions: RawBuilder<unknown>[] = [
    sql`received_at >= to_timestamp(${query.sinceMs}::float8 / 1000)`,
  ];
  const { environments, routes, environment, route, status, outcome, untilMs, after } = query;
  if (environments !== undefined) conditions.push(sql`environment = ANY(${environments}::text[])`);
  if (routes !== undefined) conditions.push(sql`route = ANY(${routes}::text[])`);
  if (environment !== undefined) conditions.push(sql`environment = ${environment}`);
  if (route !== undefined) conditions.push(sql`route = ${route}`);
  if (status !== undefined) conditions.push(sql`status = ${status}`);
  if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (untilMs !== undefined) {
    conditions.push(sql`received_at < to_timestamp(${untilMs}::float8 / 1000)`);
  }
  if (after !== undefined) {
    // The first condition says nothing new; by it whole partitions are left out.
    conditions.push(
      sql`received_at <= to_timestamp(${after.receivedAtMs}::float8 / 1000)`,
      sql`(received_at, id) < (to_timestamp(${after.receivedAtMs}::float8 / 1000), ${after.id})`,
    );
  }
  const { rows } = await sql<RecordRow>`
    SELECT ${COLUMNS} FROM request_records
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY received_at DESC, id DESC LIMIT ${query.limit}
  `.execute(db);
  return rows;
}
