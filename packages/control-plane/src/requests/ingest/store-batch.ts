import type { BatchPlace } from '@gateway/shared/records/record-batch';
import type { Database } from '../../store/database.ts';
import { isRejectedRow } from '../../store/failures.ts';
import { insertRecords, type StorableRecord } from '../store/records.ts';

export interface StoredBatch {
  /** How many of the records were new. */
  readonly inserted: number;
  /** Ids of records that Postgres rejects. */
  readonly refusedIds: readonly string[];
}

/**
 * Stores a batch in one statement. If Postgres rejects a row, the batch is halved until the row is alone, so
 * one bad row costs none of the others.
 *
 * @param places of the messages that the records came with
 * @throws if Postgres fails for another reason; then the whole batch must be retried.
 */
export async function storeBatch(
  db: Database,
  records: readonly StorableRecord[],
  places: readonly BatchPlace[] = [],
): Promise<StoredBatch> {
  const [first] = records;
  if (first === undefined) return { inserted: 0, refusedIds: [] };
  try {
    return { inserted: await insertRecords(db, records, places), refusedIds: [] };
  } catch (error) {
    if (!isRejectedRow(error)) throw error;
    if (records.length === 1) return { inserted: 0, refusedIds: [first.id] };
  }
  const middle = Math.ceil(records.length / 2);
  const left = await storeBatch(db, records.slice(0, middle), places);
  const right = await storeBatch(db, records.slice(middle), places);
  return {
    inserted: left.inserted + right.inserted,
    refusedIds: [...left.refusedIds, ...right.refusedIds],
  };
}
