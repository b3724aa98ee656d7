import {
  RECORD_RETENTION_DAYS,
  requestRecordSchema,
  type RequestRecord,
} from '@gateway/shared/records/record';
import { z } from 'zod';
import { viewShape } from './derived-schemas.ts';
import { timeView } from './fields.ts';

const RETENTION_MS = RECORD_RETENTION_DAYS * 24 * 60 * 60 * 1000;

const shownFields = requestRecordSchema.omit({ received_at_ms: true }).shape;

/** A request record as it is stored: the columns that lists filter by, and the rest as one document. */
export interface RecordRow extends Pick<RequestRecord, 'id' | 'environment' | 'route' | 'status'> {
  readonly outcome: string;
  readonly receivedAtMs: number;
  readonly document: Readonly<Record<string, unknown>>;
}

/** A request record as the API shows it. */
export const requestViewSchema = z.object({
  ...viewShape(shownFields),
  received_at: timeView,
  expires_at: timeView,
});

/** A null is not stored: most records lack most of these fields, whose names would be a tenth of a row. */
const UNSTORED_NULLS = Object.fromEntries(
  Object.entries(shownFields)
    .filter(([, field]) => field.safeParse(null).success)
    .map(([name]) => [name, null]),
);

export function requestView(record: RecordRow): z.output<typeof requestViewSchema> {
  const { document, receivedAtMs, ...columns } = record;
  return requestViewSchema.parse({
    ...UNSTORED_NULLS,
    ...document,
    ...columns,
    received_at: receivedAtMs,
    expires_at: expiryOf(receivedAtMs),
  });
}

/** The time from which a record is no longer found, ms since the Unix epoch. */
function expiryOf(receivedAtMs: number): number {
  return receivedAtMs + RETENTION_MS;
}

/** The oldest time of a request whose record is still found, ms since the Unix epoch. */
export function oldestFound(nowMs: number): number {
  return nowMs - RETENTION_MS + 1;
}
