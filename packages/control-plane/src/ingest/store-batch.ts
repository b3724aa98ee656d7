import type { Database } from '../store/database.ts';
import { isFaultOfARow } from '../store/failures.ts';
import { insertRecords, type StorableRecord } from '../store/records/records.ts';

export interface StoredBatch {
  /** How many of the records were new. */
  readonly inserted: number;
  /** Ids of records that Postgres refuses, whatever is tried. */
  readonly refusedIds: readonly string[];
}

/**
 * Stores a batch in one statement. Where a row cannot be stored, halves are tried until it stands
 * alone, so one bad row costs none of its neighbours.
 *
 * @throws where Postgres fails for another reason; then the batch is to be tried again as a whole.
 */
export async function storeBatch(
  db: Database,
  records: readonly StorableRecord[],
): Promise<StoredBatch> {
  const [first] = records;
  if (first === undefined) return { inserted: 0, refusedIds: [] };
  try {
    return { inserted: await insertRecords(db, records), refusedIds: [] };
  } catch (error) {
    if (!isFaultOfARow(error)) throw error;
    if (records.length === 1) return { inserted: 0, refusedIds: [first.id] };
  }
  const middle = Math.ceil(records.length / 2);
  const left = await storeBatch(db, records.slice(0, middle));
  const right = await storeBatch(db, records.slice(middle));
  return {
    inserted: left.inserted + right.inserted,
    refusedIds: [...left.refusedIds, ...right.refusedIds],
  };
}
