import { z } from 'zod';
import { formatField } from '../formats.ts';

/**
 * The format of a batch of request records, on the stream and in spool files. A value that is added at the end
 * of a record, and a field of a batch that readers may miss, need no new number.
 */
export const RECORD_BATCH_FORMAT = 1;

/** A batch is this text, the rows of its records separated by commas, and `recordBatchEnd`. */
export const RECORD_BATCH_START = `{"format":${RECORD_BATCH_FORMAT},"records":[`;

/** The place of a batch among those of its data-plane process. */
export interface BatchPlace {
  /** Identifies the process: the id of the first request that it recorded. */
  readonly process: string;
  /** Counts its batches, from 1. It is the same each time a batch is sent. */
  readonly sequence: number;
}

/** @param place undefined: as data planes of the first releases end a batch */
export function recordBatchEnd(place: BatchPlace | undefined): string {
  return place === undefined
    ? ']}'
    : `],"process":"${place.process}","sequence":${place.sequence}}`;
}

/** The limits of one batch. */
export const MAX_BATCH_RECORDS = 500;
/** A killed process loses at most 50 ms of records; a timer may fire up to 10 ms late. */
export const MAX_BATCH_DELAY_MS = 40;
/** Below the default limit of nats-server, which is 1 MiB with headers. */
export const MAX_BATCH_BYTES = 768 * 1024;

/** Longer than any end of a batch. */
export const MAX_RECORD_BATCH_END_BYTES = 128;

/** A batch whose records are not validated yet, so that a malformed record does not cost the others. */
export const recordBatchSchema = z.object({
  format: formatField(RECORD_BATCH_FORMAT),
  records: z.array(z.unknown()),
  /** Absent in batches of older data planes. */
  process: z.string().max(64).optional(),
  sequence: z.int().min(1).optional(),
});
