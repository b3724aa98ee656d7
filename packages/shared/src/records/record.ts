import { z } from 'zod';

/** The outcome of a request. */
export const OUTCOMES = [
  'success',
  'upstream_error',
  'upstream_unavailable',
  'timeout',
  'rejected',
  'client_aborted',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

const attemptSchema = z.object({
  upstream: z.string(),
  region: z.string().nullable(),
  /** From the request's arrival, ms. */
  started_ms: z.number(),
  duration_ms: z.number(),
  status: z.int().optional(),
  /** Why there was no usable status: `connect_refused`, `connect_timeout`, `reset`, … */
  error: z.string().optional(),
});

const recordedClaimSchema = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** The record of one proxied request. It contains no header value, no body and no query value. */
export const requestRecordSchema = z.object({
  id: z.string(),
  /** null if the request was refused before its environment was known. */
  environment: z.string().nullable(),
  /** The name in the path, even if no such route exists; null if the path has none. */
  route: z.string().nullable(),
  route_version: z.string().nullable(),
  service_id: z.string().nullable(),
  method: z.string(),
  /** Without the query. */
  path: z.string(),
  /** null if the client disconnected before the response began. */
  status: z.int().nullable(),
  outcome: z.enum(OUTCOMES),
  error_code: z.string().nullable(),
  /** Milliseconds since the Unix epoch, the same as in the id. */
  received_at_ms: z.int(),
  timing: z.object({ gateway_ms: z.number(), upstream_ms: z.number(), total_ms: z.number() }),
  upstream: z.object({ id: z.string(), url: z.string(), region: z.string().nullable() }).nullable(),
  retry_count: z.int(),
  attempts: z.array(attemptSchema),
  rate_limit: z.object({ limit: z.int(), remaining: z.int(), reset_seconds: z.int() }).nullable(),
  /** What the idempotency key did to this request; null if it had none. */
  idempotency: z.string().nullable(),
  token_id: z.string().nullable(),
  /** Claim `sub` of the caller's JWT; null if there was no JWT or it was refused. */
  subject: z.string().nullable(),
  /** The claims `iss` and `aud` of that JWT, and those that the route requires. Never the token. */
  claims: z.record(z.string(), recordedClaimSchema).nullable(),
  client_ip: z.string(),
  client_request_id: z.string().nullable(),
  request_bytes: z.int(),
  response_bytes: z.int(),
  data_plane: z.string(),
  config_version: z.int().nullable(),
  trace_id: z.string(),
});

export type RequestRecord = z.infer<typeof requestRecordSchema>;
export type RecordedAttempt = z.infer<typeof attemptSchema>;
/** A string, number, boolean or list of strings as it is; any other value, and a long one, as JSON text. */
export type RecordedClaim = z.infer<typeof recordedClaimSchema>;

/** How many days a record can be read. */
export const RECORD_RETENTION_DAYS = 30;

/** The limits of one batch. */
export const MAX_BATCH_RECORDS = 500;
/** A killed process loses at most 50 ms of records; a timer may fire up to 10 ms late. */
export const MAX_BATCH_DELAY_MS = 40;
/** Below the default limit of nats-server, which is 1 MiB with headers. */
export const MAX_BATCH_BYTES = 768 * 1024;

/** Longer paths and longer ids of callers are cut, so that the size of a record is bounded. */
export const MAX_RECORDED_PATH_CHARS = 1024;
export const MAX_RECORDED_CLIENT_ID_CHARS = 128;
/** The limit of OpenID Connect Core section 2. Longer subjects are refused. */
export const MAX_RECORDED_SUBJECT_CHARS = 255;
/** How many claims of a JWT are recorded, and the length at which each is cut. */
export const MAX_RECORDED_CLAIMS = 20;
export const MAX_RECORDED_CLAIM_CHARS = 256;
