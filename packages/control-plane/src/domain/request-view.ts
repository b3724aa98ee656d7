import {
  RECORD_RETENTION_DAYS,
  requestRecordSchema,
  type RequestRecord,
} from '@gateway/shared/records/record';
import { timeView } from './fields.ts';

const RETENTION_MS = RECORD_RETENTION_DAYS * 24 * 60 * 60 * 1000;

/** A request record as it is stored: what lists filter by, and the rest as one document. */
export interface RecordRow {
  readonly id: string;
  readonly environment: string | null;
  readonly route: string | null;
  readonly status: number | null;
  readonly outcome: string;
  readonly receivedAtMs: number;
  readonly document: Readonly<Record<string, unknown>>;
}

/** The record as the API shows it. Source: DESIGN section 2 "Request record". */
export const requestViewSchema = requestRecordSchema
  .omit({ received_at_ms: true })
  .extend({ received_at: timeView, expires_at: timeView });

/** What is null is not stored: most records lack most of these, and their names take a tenth of a row. */
const UNSTORED_NULLS = {
  route_version: null,
  service_id: null,
  error_code: null,
  upstream: null,
  rate_limit: null,
  idempotency: null,
  token_id: null,
  subject: null,
  claims: null,
  client_request_id: null,
  config_version: null,
} as const satisfies Partial<RequestRecord>;

export function requestView(record: RecordRow): Readonly<Record<string, unknown>> {
  return {
    id: record.id,
    environment: record.environment,
    route: record.route,
    status: record.status,
    outcome: record.outcome,
    received_at: new Date(record.receivedAtMs).toISOString(),
    ...UNSTORED_NULLS,
    ...record.document,
    expires_at: new Date(expiryOf(record.receivedAtMs)).toISOString(),
  };
}

/** From when on a request is not found any more, ms since the Unix epoch. Source: INTERFACE section 8. */
export function expiryOf(receivedAtMs: number): number {
  return receivedAtMs + RETENTION_MS;
}

/** The oldest time of a request that is still found, ms since the Unix epoch. */
export function oldestFound(nowMs: number): number {
  return nowMs - RETENTION_MS + 1;
}
