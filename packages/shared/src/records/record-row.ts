import { z } from 'zod';
import { requestRecordSchema, type RecordedAttempt, type RequestRecord } from './record.ts';

/**
 * A record as data planes stream it: its values in a fixed order, without their names. Half as long as
 * with them, on the wire, in the stream and in a spool, and made in half the time. Values are only ever added
 * behind the last one: a reader of an older version passes over them, and one that finds none takes
 * them for absent. Times are microseconds, as whole numbers become text in a fraction of the time that others take.
 */
export type RecordRow = readonly unknown[];

export function recordRow(record: RequestRecord): RecordRow {
  const { timing, upstream, rate_limit: quota } = record;
  return [
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
    record.attempts.map(attemptRow),
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
  ];
}

function attemptRow(attempt: RecordedAttempt): RecordRow {
  const { upstream, region, started_ms, duration_ms, status = null, error } = attempt;
  const startedUs = microseconds(started_ms);
  const durationUs = microseconds(duration_ms);
  return error === undefined
    ? [upstream, region, startedUs, durationUs, status]
    : [upstream, region, startedUs, durationUs, status, error];
}

/** Records have times to three decimals of a millisecond. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}

/** The values of a row under their names; anything else as it is, for the schema to judge. */
function recordOfRow(entry: unknown): unknown {
  if (!Array.isArray(entry)) return entry;
  const row: RecordRow = entry;
  return {
    id: row[0],
    environment: row[1],
    route: row[2],
    route_version: row[3],
    service_id: row[4],
    method: row[5],
    path: row[6],
    status: row[7],
    outcome: row[8],
    error_code: row[9],
    received_at_ms: row[10],
    timing: {
      gateway_ms: milliseconds(row[11]),
      upstream_ms: milliseconds(row[12]),
      total_ms: milliseconds(row[13]),
    },
    upstream: within(row[14], ([id, url, region]) => ({ id, url, region })),
    retry_count: row[15],
    attempts: within(row[16], (attempts) => attempts.map((one) => within(one, attemptOfRow))),
    rate_limit: within(row[17], ([limit, remaining, reset_seconds]) => ({
      ...{ limit, remaining, reset_seconds },
    })),
    idempotency: row[18],
    token_id: row[19],
    subject: row[20],
    claims: row[21],
    client_ip: row[22],
    client_request_id: row[23],
    request_bytes: row[24],
    response_bytes: row[25],
    data_plane: row[26],
    config_version: row[27],
    trace_id: row[28],
  };
}

function attemptOfRow(row: RecordRow): unknown {
  const [upstream, region, startedUs, durationUs, status, error] = row;
  const times = { started_ms: milliseconds(startedUs), duration_ms: milliseconds(durationUs) };
  return { upstream, region, ...times, status: status ?? undefined, error };
}

function milliseconds(us: unknown): unknown {
  return typeof us === 'number' ? us / 1000 : us;
}

/** What is no list is left for the schema to refuse, or to take: null. */
function within(value: unknown, read: (row: RecordRow) => unknown): unknown {
  return Array.isArray(value) ? read(value) : value;
}

/** A record within a message: a row, or with its names, as data planes of the version before send it. */
export const recordEntrySchema = z.preprocess(recordOfRow, requestRecordSchema);

/** A message on the stream of records: the JSON array of a batch. */
export const recordBatchSchema = z.array(recordEntrySchema);
