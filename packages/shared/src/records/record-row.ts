import { z } from 'zod';
import type { RecordedAttempt } from './attempt.ts';
import { headerNamesOf, headerNamesText } from './header-names-text.ts';
import { requestRecordSchema, type RequestRecord } from './record.ts';

/**
 * A record as data planes stream it: its values in a fixed order, without names. That halves its size and the
 * time to encode it. New values are only added at the end: an older reader ignores them, and a newer reader
 * takes their default if they are missing. Times are whole microseconds, because integers are encoded several
 * times faster than fractions.
 */
export type RecordRow = readonly unknown[];

/** Where the values stand that a stored record has outside of its row. */
export const ROW_POSITIONS = {
  id: 0,
  environment: 1,
  route: 2,
  method: 5,
  path: 6,
  status: 7,
  outcome: 8,
  errorCode: 9,
  receivedAtMs: 10,
  totalUs: 13,
  upstream: 14,
  attempts: 16,
  quota: 17,
  tokenId: 19,
  subject: 20,
  configVersion: 27,
} as const;

export function recordRow(record: RequestRecord): RecordRow {
  const { timing, upstream, attempts, rate_limit: quota } = record;
  const row: unknown[] = [
    record.id,
    record.environment,
    record.route,
    record.route_version,
    record.service_id,
    record.method,
    record.path,
    record.status,
    record.outcome,
    record.error_code,
    record.received_at_ms,
    microseconds(timing.gateway_ms),
    microseconds(timing.upstream_ms),
    microseconds(timing.total_ms),
    upstream === null ? null : [upstream.id, upstream.url, upstream.region],
    record.retry_count,
    attempts.map(attemptRow),
    quota === null ? null : [quota.limit, quota.remaining, quota.reset_seconds],
    record.idempotency,
    record.token_id,
    record.subject,
    record.claims,
    record.client_ip,
    record.client_request_id,
    record.request_bytes,
    record.response_bytes,
    record.data_plane,
    record.config_version,
    record.trace_id,
    hasRetry(attempts) ? retriesRow(attempts) : null,
    record.error_stage,
    timesRow(record),
    record.header_names === null ? null : headerNamesText(record.header_names),
    record.host,
    record.request_content_length,
    record.kind === 'request' ? null : record.kind,
    record.match,
    record.caller_id,
    record.would_refuse,
    record.units,
    record.upstream_request_id,
    record.parent_id,
    record.policies,
    record.grpc_status,
    grpcStatusesRow(attempts),
  ];
  let used = row.length;
  while (used > SHORTEST_ROW && row[used - 1] === null) used -= 1;
  return used === row.length ? row : row.slice(0, used);
}

/** Readers take null for the values after these. */
const SHORTEST_ROW = 29;

/** The times that the first releases did not have; the waits only if there were any. */
function timesRow({ timing, waits }: RequestRecord): RecordRow | null {
  if (timing.receiving_ms === null || timing.sending_ms === null) return null;
  const row = [microseconds(timing.receiving_ms), microseconds(timing.sending_ms)];
  if (waits === null) return row;
  row.push(microseconds(waits.key_ms), microseconds(waits.quota_ms));
  row.push(microseconds(waits.connection_ms), microseconds(waits.retry_ms));
  return row;
}

function retriesRow(attempts: readonly RecordedAttempt[]): RecordRow {
  return attempts.map(({ retry }) => (retry ? [retry.retried, retry.why] : null));
}

function hasRetry(attempts: readonly RecordedAttempt[]): boolean {
  for (const attempt of attempts) if (attempt.retry !== undefined) return true;
  return false;
}

/** The gRPC statuses of the attempts; null: none has one. */
function grpcStatusesRow(attempts: readonly RecordedAttempt[]): RecordRow | null {
  for (const { grpc_status: status } of attempts) {
    if (status !== undefined) return attempts.map(({ grpc_status: each = null }) => each);
  }
  return null;
}

function attemptRow(attempt: RecordedAttempt): RecordRow {
  const { upstream, region, started_ms, duration_ms, status = null, error } = attempt;
  const startedUs = microseconds(started_ms);
  const durationUs = microseconds(duration_ms);
  return error === undefined
    ? [upstream, region, startedUs, durationUs, status]
    : [upstream, region, startedUs, durationUs, status, error];
}

/** Times in records have three decimals of a millisecond. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

/** Names the values of a row. Undefined, which the schema refuses, if the entry is not a row. */
function recordOfRow(entry: unknown): unknown {
  if (!Array.isArray(entry)) return undefined;
  const row: RecordRow = entry;
  const at = ROW_POSITIONS;
  const times = timesOfRow(row[31] ?? null);
  return {
    id: row[at.id],
    environment: row[at.environment],
    route: row[at.route],
    route_version: row[3],
    service_id: row[4],
    method: row[at.method],
    path: row[at.path],
    status: row[at.status],
    outcome: row[at.outcome],
    error_code: row[at.errorCode],
    received_at_ms: row[at.receivedAtMs],
    timing: {
      gateway_ms: milliseconds(row[11]),
      receiving_ms: times.receiving_ms,
      waiting_ms: times.waiting_ms,
      upstream_ms: milliseconds(row[12]),
      sending_ms: times.sending_ms,
      total_ms: milliseconds(row[at.totalUs]),
    },
    waits: times.waits,
    upstream: ifArray(row[at.upstream], ([id, url, region]) => ({ id, url, region })),
    retry_count: row[15],
    attempts: ifArray(row[at.attempts], (attempts) => attemptsOfRow(attempts, row[29], row[44])),
    rate_limit: ifArray(row[17], ([limit, remaining, reset_seconds]) => ({
      limit,
      remaining,
      reset_seconds,
    })),
    idempotency: row[18],
    token_id: row[at.tokenId],
    subject: row[20],
    claims: row[21],
    client_ip: row[22],
    client_request_id: row[23],
    request_bytes: row[24],
    response_bytes: row[25],
    data_plane: row[26],
    config_version: row[at.configVersion],
    trace_id: row[28],
    error_stage: row[30] ?? null,
    header_names: namesOfRow(row[32] ?? null),
    host: row[33] ?? null,
    request_content_length: row[34] ?? null,
    kind: row[35] ?? 'request',
    match: row[36] ?? null,
    caller_id: row[37] ?? null,
    would_refuse: row[38] ?? null,
    units: row[39] ?? null,
    upstream_request_id: row[40] ?? null,
    parent_id: row[41] ?? null,
    policies: row[42] ?? null,
    grpc_status: row[43] ?? null,
  };
}

const NO_TIMES = { receiving_ms: null, waiting_ms: null, sending_ms: null, waits: null };

/** @param entry null: the record has no such times. Others that are not a list are left to the schema. */
function timesOfRow(entry: unknown): Readonly<Record<keyof typeof NO_TIMES, unknown>> {
  if (entry === null) return NO_TIMES;
  if (!Array.isArray(entry)) return { ...NO_TIMES, waits: entry };
  const [receivingUs, sendingUs, ...waitsUs] = entry as RecordRow;
  const [key_ms, quota_ms, connection_ms, retry_ms] = waitsUs.map(milliseconds);
  return {
    receiving_ms: milliseconds(receivingUs),
    // Summed as microseconds, so that the times add up as they are printed.
    waiting_ms: milliseconds(waitsUs.reduce((sum: number, us) => sum + Number(us), 0)),
    sending_ms: milliseconds(sendingUs),
    waits: waitsUs.length === 0 ? null : { key_ms, quota_ms, connection_ms, retry_ms },
  };
}

function namesOfRow(entry: unknown): unknown {
  return typeof entry === 'string' ? headerNamesOf(entry) : entry;
}

/**
 * @param retries what followed each attempt; not a list: the record has none
 * @param statuses the gRPC status of each attempt; not a list: the record has none
 */
function attemptsOfRow(attempts: RecordRow, retries: unknown, statuses: unknown): unknown {
  const followed: RecordRow = Array.isArray(retries) ? retries : [];
  const ended: RecordRow = Array.isArray(statuses) ? statuses : [];
  return attempts.map((one, at) =>
    ifArray(one, (row) => ({
      ...attemptOfRow(row),
      grpc_status: ended[at] ?? undefined,
      retry: retryOfRow(followed[at]),
    })),
  );
}

function retryOfRow(entry: unknown): unknown {
  return ifArray(entry ?? undefined, ([retried, why]) => ({ retried, why }));
}

function attemptOfRow(row: RecordRow): object {
  const [upstream, region, startedUs, durationUs, status, error] = row;
  const times = { started_ms: milliseconds(startedUs), duration_ms: milliseconds(durationUs) };
  return { upstream, region, ...times, status: status ?? undefined, error };
}

function milliseconds(us: unknown): unknown {
  return typeof us === 'number' ? us / 1000 : us;
}

/** A value that is not an array is left to the schema, which accepts null and refuses the rest. */
function ifArray(value: unknown, read: (row: RecordRow) => unknown): unknown {
  return Array.isArray(value) ? read(value) : value;
}

/** Parses a row into the record. */
export const recordRowSchema = z.preprocess(recordOfRow, requestRecordSchema);
