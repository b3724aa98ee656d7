import type { Clock, Timer } from '@gateway/shared/clock';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_DELAY_MS,
  MAX_BATCH_RECORDS,
} from '@gateway/shared/records/record';

/** One message on its way: the JSON array of its records. */
export interface RecordBatch {
  /** The same each time this batch is sent, and of no other batch. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly records: number;
}

export interface RecordBatcher {
  /** Records that are in no batch yet. */
  readonly records: number;
  /**
   * Takes the JSON of the record of this request. False where it is larger than a batch may be, and so
   * was not taken.
   */
  add(requestId: string, json: string): boolean;
  /** Emits what has gathered, if anything has. */
  flush(): void;
}

const END = Buffer.from(']');
/** The bracket or the comma before a record, and the bracket behind the last one. */
const BRACKETS = 2;
/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * Gathers records into batches, each emitted when it is full, or old enough that a record is found
 * soon after its response. Bounds: DESIGN section 4 "Records".
 *
 * Records come as text: their exact size is then known, and no flush holds up the event loop for
 * hundreds of records at once.
 */
export function createRecordBatcher(
  clock: Clock,
  emit: (batch: RecordBatch) => void,
): RecordBatcher {
  // Text is written as bytes at once: as text, half a megabyte of it would live until the next flush.
  const buffer = Buffer.allocUnsafeSlow(MAX_BATCH_BYTES);
  let used = 0;
  let records = 0;
  let firstId = '';
  let timer: Timer | undefined;

  function flush(): void {
    timer?.cancel();
    timer = undefined;
    if (records === 0) return;
    const batch: RecordBatch = {
      // A request's id is in one batch only, so the first one names the batch.
      id: `${firstId}.${records}`,
      body: Buffer.concat([buffer.subarray(0, used), END]),
      records,
    };
    used = 0;
    records = 0;
    emit(batch);
  }

  return {
    get records() {
      return records;
    },
    add(requestId, json) {
      // Measured only where the worst that its characters could take might not fit.
      if (used + json.length * MAX_BYTES_PER_CHAR + BRACKETS > MAX_BATCH_BYTES) {
        const size = Buffer.byteLength(json) + BRACKETS;
        if (size > MAX_BATCH_BYTES) return false;
        if (used + size > MAX_BATCH_BYTES) flush();
      }
      if (records === 0) {
        firstId = requestId;
        timer = clock.setTimer(MAX_BATCH_DELAY_MS, flush);
      }
      used += buffer.write(records === 0 ? '[' : ',', used, 'latin1');
      used += buffer.write(json, used);
      records += 1;
      if (records >= MAX_BATCH_RECORDS) flush();
      return true;
    },
    flush,
  };
}
