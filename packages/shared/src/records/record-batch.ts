import { z } from 'zod';
import { formatField } from '../formats.ts';

/**
 * The format of a batch of request records, on the stream and in spool files. A value that is added at the end
 * of a record needs no new number.
 */
export const RECORD_BATCH_FORMAT = 1;

/** A batch is this text, the rows of its records separated by commas, and `RECORD_BATCH_END`. */
export const RECORD_BATCH_START = `{"format":${RECORD_BATCH_FORMAT},"records":[`;
export const RECORD_BATCH_END = ']}';

/** A batch whose records are not validated yet, so that a malformed record does not cost the others. */
export const recordBatchSchema = z.object({
  format: formatField(RECORD_BATCH_FORMAT),
  records: z.array(z.unknown()),
});
