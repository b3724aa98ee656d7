import { requestRecordSchema } from '@gateway/shared/records/record';
import { RECORD_RETENTION_DAYS } from '@gateway/shared/records/record-bounds';
import { z } from 'zod';
import { viewShape } from '@gateway/shared/definitions/derived-schemas';
import { timeField } from '../fields/response-fields.ts';
import { fieldsOfDocument, type RecordColumns } from './record-document.ts';

const RETENTION_MS = RECORD_RETENTION_DAYS * 24 * 60 * 60 * 1000;

const shownFields = requestRecordSchema.omit({ received_at_ms: true }).shape;

/** A stored request record: the columns for filters, and the other fields as one document. */
export interface RecordRow extends RecordColumns {
  /** See `fieldsOfDocument`. */
  readonly document: unknown;
}

/** The schema of `requestView`. */
export const requestViewSchema = z
  .object({
    ...viewShape(shownFields),
    received_at: timeField('When the request arrived.'),
    expires_at: timeField('When the record expires. It cannot be read afterwards.'),
  })
  .meta({
    id: 'RequestRecord',
    description:
      'What the gateway did with one request. It has no header value, no body and no query value.',
  });

/** Nulls are not stored: most records lack most of these fields, and their names would be a tenth of a row. */
const UNSTORED_NULLS = Object.fromEntries(
  Object.entries(shownFields)
    .filter(([, field]) => field.safeParse(null).success)
    .map(([name]) => [name, null]),
);

/** Records of the first releases lack some times. */
const UNSTORED_TIMES = { receiving_ms: null, waiting_ms: null, sending_ms: null };

/** A request record as the API shows it. */
export function requestView(record: RecordRow): z.output<typeof requestViewSchema> {
  const { document, receivedAtMs, ...columns } = record;
  const fields = fieldsOfDocument(document, record);
  return requestViewSchema.parse({
    ...UNSTORED_NULLS,
    kind: 'request',
    ...fields,
    timing: { ...UNSTORED_TIMES, ...(fields['timing'] as object) },
    ...columns,
    received_at: receivedAtMs,
    expires_at: expiryOf(receivedAtMs),
  });
}

/** When the record can no longer be read, ms since the Unix epoch. */
function expiryOf(receivedAtMs: number): number {
  return receivedAtMs + RETENTION_MS;
}

/** The oldest received_at of a record that can be read, ms since the Unix epoch. */
export function oldestReadableMs(nowMs: number): number {
  return nowMs - RETENTION_MS + 1;
}
