import type { Clock, Timer } from '@gateway/shared/clock';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_DELAY_MS,
  MAX_BATCH_RECORDS,
  type RequestRecord,
} from '@gateway/shared/records/record';
import { RECORD_BATCH_END, RECORD_BATCH_START } from '@gateway/shared/records/record-batch';
import { recordRow } from '@gateway/shared/records/record-row';

/** One message of the record stream. */
export interface RecordBatch {
  /** The same each time this batch is sent, and of no other batch. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly records: number;
}

export interface RecordBatcher {
  /** Records that are in no batch yet. */
  readonly records: number;
  /** Takes the record of a request that is over. */
  add(record: RequestRecord): void;
  /** Emits what has gathered, if anything has. */
  flush(): void;
}

export interface BatchSink {
  emit(batch: RecordBatch): void;
  /** A record was given up, as it is larger than a batch may be. */
  tooLarge(): void;
}

const START = Buffer.from(RECORD_BATCH_START);
const END = Buffer.from(RECORD_BATCH_END);
const COMMA = 0x2c;
const EMPTY_BYTES = START.length + END.length;
/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const MAX_BYTES_PER_CHAR = 3;

/** So many records are written in a row: less than a millisecond, in which others wait. */
const BURST_RECORDS = 32;

/**
 * Gathers records into batches, each emitted when it is full, or old enough that a record is found
 * soon after its response.
 *
 * Records become text some at a time. Between two requests the code for it is driven out of the core's
 * caches by the code that handles a request, and has to be fetched again for each record.
 */
export function createRecordBatcher(clock: Clock, sink: BatchSink): RecordBatcher {
  // Text is written as bytes at once: as text, half a megabyte of it would live until the next flush.
  const buffer = Buffer.allocUnsafeSlow(MAX_BATCH_BYTES);
  let used = 0;
  let records = 0;
  let firstId = '';
  let waiting: RequestRecord[] = [];
  let timer: Timer | undefined;

  function flush(): void {
    timer?.cancel();
    timer = undefined;
    write();
    emit();
  }

  function write(): void {
    const burst = waiting;
    waiting = [];
    for (const record of burst) append(record.id, JSON.stringify(recordRow(record)));
  }

  function append(requestId: string, json: string): void {
    // Measured only where the worst that its characters could take might not fit.
    if (used + json.length * MAX_BYTES_PER_CHAR + EMPTY_BYTES > MAX_BATCH_BYTES) {
      const bytes = Buffer.byteLength(json);
      if (bytes + EMPTY_BYTES > MAX_BATCH_BYTES) {
        sink.tooLarge();
        return;
      }
      if (used + 1 + bytes + END.length > MAX_BATCH_BYTES) emit();
    }
    if (records === 0) {
      firstId = requestId;
      used = START.copy(buffer);
    } else {
      buffer[used] = COMMA;
      used += 1;
    }
    used += buffer.write(json, used);
    records += 1;
    if (records >= MAX_BATCH_RECORDS) emit();
  }

  function emit(): void {
    if (records === 0) return;
    const batch: RecordBatch = {
      // A request's id is in one batch only, so the first one names the batch.
      id: `${firstId}.${records}`,
      body: Buffer.concat([buffer.subarray(0, used), END]),
      records,
    };
    used = 0;
    records = 0;
    sink.emit(batch);
  }

  return {
    get records() {
      return records + waiting.length;
    },
    add(record) {
      waiting.push(record);
      timer ??= clock.setTimer(MAX_BATCH_DELAY_MS, flush);
      const full = records + waiting.length >= MAX_BATCH_RECORDS;
      if (!full && waiting.length < BURST_RECORDS) return;
      write();
      if (records > 0) return;
      timer.cancel();
      timer = undefined;
    },
    flush,
  };
}
