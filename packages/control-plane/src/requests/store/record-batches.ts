import { sql } from 'kysely';
import type { BatchPlace } from '@gateway/shared/records/record-batch';
import { float8Array, textArray } from '../../store/binary-array.ts';
import type { Database } from '../../store/database.ts';

/** Notes which batches have arrived. Batches that were noted before change nothing. Writers wait for each other. */
export async function noteBatches(db: Database, places: readonly BatchPlace[]): Promise<void> {
  if (places.length === 0) return;
  await sql`
    INSERT INTO record_batches AS b (process, received, received_at)
    SELECT process, range_agg(int8range(sequence::bigint, sequence::bigint + 1)), now()
    FROM unnest(
      ${textArray(places.map(({ process }) => process))}::text[],
      ${float8Array(places.map(({ sequence }) => sequence))}::float8[]
    ) AS p (process, sequence)
    GROUP BY process
    -- So that two writers cannot deadlock.
    ORDER BY process COLLATE "C"
    ON CONFLICT (process)
    DO UPDATE SET received = b.received + excluded.received, received_at = excluded.received_at
  `.execute(db);
}

/** A row with more gaps than this has its oldest gaps closed. */
const MAX_RANGES = 100;

/** Closes gaps of the processes that have too many. They stay counted, also if their batches arrive later. */
export async function closeGaps(db: Database, maxRanges = MAX_RANGES): Promise<void> {
  await sql`
    UPDATE record_batches AS b
    SET missing = missing + upper(closed) - lower(closed) - (
        SELECT coalesce(sum(upper(r) - lower(r)), 0)
        FROM unnest(received * int8multirange(closed)) AS r
      ),
      received = received + int8multirange(closed)
    FROM (
      SELECT process, int8range(lower(received), (
        SELECT lower(r) FROM unnest(received) AS r ORDER BY r DESC OFFSET ${maxRanges - 1}::int LIMIT 1
      )) AS closed
      FROM record_batches
      WHERE (SELECT count(*) FROM unnest(received)) > ${maxRanges}::int
      FOR UPDATE
    ) AS full_rows
    WHERE b.process = full_rows.process
  `.execute(db);
}

/** Deletes the processes of which nothing has arrived since then. */
export async function deleteEndedProcesses(db: Database, since: Date): Promise<void> {
  await sql`DELETE FROM record_batches WHERE received_at < ${since}`.execute(db);
}

/** How many batches are missing between the first and the last one of each process. */
export async function countMissingBatches(db: Database): Promise<number> {
  const { rows } = await sql<{ missing: number }>`
    SELECT coalesce(sum(missing + upper(received) - lower(received) - (
      SELECT sum(upper(r) - lower(r)) FROM unnest(received) AS r
    )), 0)::float8 AS missing
    FROM record_batches
  `.execute(db);
  return rows[0]?.missing ?? 0;
}
