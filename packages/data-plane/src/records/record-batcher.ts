import type { Clock, Timer } from '@gateway/shared/clock';
import type { RequestRecord } from '@gateway/shared/records/record';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_DELAY_MS,
  MAX_BATCH_RECORDS,
  MAX_RECORD_BATCH_END_BYTES,
  RECORD_BATCH_START,
  recordBatchEnd,
} from '@gateway/shared/records/record-batch';
import { recordRow } from '@gateway/shared/records/record-row';

/** One message of the record stream. */
export interface RecordBatch {
  /** Unique to this batch, and the same each time it is sent. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly records: number;
}

/** Gathers records into batches. */
export interface RecordBatcher {
  /** The number of records that are not in a batch yet. */
  readonly records: number;
  /** Adds the record of a finished request. */
  add(record: RequestRecord): void;
  /** Emits the records gathered so far, if there are any. */
  flush(): void;
}

/** Receives the batches. */
export interface BatchSink {
  emit(batch: RecordBatch): void;
  /** A record was dropped because it is larger than a batch may be. */
  tooLarge(): void;
}

const START = Buffer.from(RECORD_BATCH_START);
const COMMA = 0x2c;
const EMPTY_BYTES = START.length + MAX_RECORD_BATCH_END_BYTES;
/** The most bytes that UTF-8 needs for one UTF-16 code unit. */
const MAX_BYTES_PER_CHAR = 3;

/** The number of records that are serialized in a row. They block the event loop for less than a millisecond. */
const BURST_RECORDS = 32;

/**
 * Creates a batcher, one for each process. It numbers its batches, so that a reader can tell lost ones. It emits a batch when it is full or after `MAX_BATCH_DELAY_MS`, so that a record can be read soon
 * after its response.
 *
 * Several records are serialized together. Between two requests the code for that is evicted from the caches of the CPU,
 * and would have to be loaded again for each record.
 */
export function createRecordBatcher(clock: Clock, sink: BatchSink): RecordBatcher {
  // Text is converted to bytes at once, because half a megabyte of strings would otherwise live until the next flush.
  const buffer = Buffer.allocUnsafeSlow(MAX_BATCH_BYTES);
  let used = 0;
  let records = 0;
  let firstId = '';
  /** The id of the first request of this process. */
  let process = '';
  let sequence = 0;
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
    // The exact size is only computed if the largest possible one might not fit.
    if (used + json.length * MAX_BYTES_PER_CHAR + EMPTY_BYTES > MAX_BATCH_BYTES) {
      const bytes = Buffer.byteLength(json);
      if (bytes + EMPTY_BYTES > MAX_BATCH_BYTES) {
        sink.tooLarge();
        return;
      }
      if (used + 1 + bytes + MAX_RECORD_BATCH_END_BYTES > MAX_BATCH_BYTES) emit();
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
    if (sequence === 0) process = firstId;
    sequence += 1;
    const end = Buffer.from(recordBatchEnd({ process, sequence }));
    const batch: RecordBatch = {
      // The id of a request is in one batch only, so the first id identifies the batch.
      id: `${firstId}.${records}`,
      body: Buffer.concat([buffer.subarray(0, used), end]),
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
