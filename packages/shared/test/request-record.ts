import { createIdFactory } from '../src/ids.ts';
import type { RequestRecord } from '../src/records/record.ts';
import {
  RECORD_BATCH_START,
  recordBatchEnd,
  recordBatchSchema,
  type BatchPlace,
} from '../src/records/record-batch.ts';
import { recordRow, recordRowSchema } from '../src/records/record-row.ts';

/** A record of a usual successful request with a new id, received at this time, ms since the Unix epoch. */
export function requestRecord(
  receivedAtMs: number,
  changes: Partial<RequestRecord> = {},
): RequestRecord {
  return {
    id: createIdFactory(() => receivedAtMs)('req'),
    environment: 'production',
    route: 'echo',
    route_version: null,
    service_id: 'svc_1',
    method: 'POST',
    path: '/v1/proxy/echo',
    status: 200,
    outcome: 'success',
    error_code: null,
    error_stage: null,
    received_at_ms: receivedAtMs,
    timing: timing({ upstream_ms: 12 }),
    waits: null,
    upstream: { id: 'ups_1', url: 'http://127.0.0.1:9000', region: null },
    retry_count: 0,
    attempts: [{ upstream: 'ups_1', region: null, started_ms: 0.5, duration_ms: 12, status: 200 }],
    rate_limit: { limit: 60_000, remaining: 59_999, reset_seconds: 60 },
    idempotency: null,
    token_id: 'tok_1',
    subject: null,
    claims: null,
    client_ip: '127.0.0.1',
    client_request_id: null,
    request_bytes: 80,
    response_bytes: 150,
    data_plane: 'data-plane-1',
    config_version: 1,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    header_names: ['host', 'authorization', 'content-type', 'content-length'],
    host: 'gateway.test',
    request_content_length: 80,
    kind: 'request',
    match: null,
    caller_id: null,
    would_refuse: null,
    units: null,
    upstream_request_id: null,
    parent_id: null,
    policies: null,
    grpc_status: null,
    ...changes,
  };
}

/** Times that add up: a millisecond in the gateway, and these. */
export function timing(
  times: Partial<Omit<RequestRecord['timing'], 'total_ms'>>,
): RequestRecord['timing'] {
  const parts = {
    gateway_ms: 1,
    receiving_ms: 0,
    waiting_ms: 0,
    upstream_ms: 0,
    sending_ms: 0,
    ...times,
  };
  const totalUs = Object.values(parts).reduce<number>(
    (sum, ms) => sum + Math.round((ms ?? 0) * 1000),
    0,
  );
  return { ...parts, total_ms: totalUs / 1000 };
}

/** The message of a batch of records; `more` are further entries, which need not be records. */
export function recordBatchText(
  records: readonly RequestRecord[],
  more: readonly unknown[] = [],
  place?: BatchPlace,
): string {
  const entries = [...records.map(recordRow), ...more].map((entry) => JSON.stringify(entry));
  return RECORD_BATCH_START + entries.join(',') + recordBatchEnd(place);
}

/** The records of a message. @throws if the batch or one of its records is malformed */
export function recordsOfBatch(text: string): RequestRecord[] {
  const { records } = recordBatchSchema.parse(JSON.parse(text));
  return records.map((row) => recordRowSchema.parse(row));
}
