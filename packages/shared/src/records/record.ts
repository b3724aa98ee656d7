import { z } from 'zod';

/** What came of a request. */
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

/**
 * The record of one proxied request.
 * It holds no header value, no body and no query value.
 */
export const requestRecordSchema = z.object({
  id: z.string(),
  /** null where the request was refused before an environment was known. */
  environment: z.string().nullable(),
  /** The name that the path gave, also where no such route exists; null where it gave none. */
  route: z.string().nullable(),
  route_version: z.string().nullable(),
  service_id: z.string().nullable(),
  method: z.string(),
  /** Without the query. */
  path: z.string(),
  /** null where the client left before a response began. */
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
  /** What the idempotency key did to this request; null where it had none. */
  idempotency: z.string().nullable(),
  token_id: z.string().nullable(),
  /**
   * Claim `sub` of the caller's JWT; null where it brought none, or one that was refused. Data planes
   * of the version before, and what they left in the stream or a spool, do not know this and `claims`.
   */
  subject: z.string().nullable().default(null),
  /** Of the claims of that JWT, `iss`, `aud` and those that the route requires. Never the token. */
  claims: z.record(z.string(), recordedClaimSchema).nullable().default(null),
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
/** A claim as it stands, or as JSON text where it is neither plain nor a list of texts, or too long. */
export type RecordedClaim = z.infer<typeof recordedClaimSchema>;

/** How long a record can be looked up. */
export const RECORD_RETENTION_DAYS = 30;

/** Bounds of what a data plane puts into one message. */
export const MAX_BATCH_RECORDS = 500;
/** Leaves ten of the 50 ms for a timer that is late: what is lost with a process that is killed. */
export const MAX_BATCH_DELAY_MS = 40;
/** Below the 1 MiB that nats-server takes by default, headers included. */
export const MAX_BATCH_BYTES = 768 * 1024;

/** Longer paths and caller's request ids are cut here, so that a record has a bounded size. */
export const MAX_RECORDED_PATH_CHARS = 1024;
export const MAX_RECORDED_CLIENT_ID_CHARS = 128;
/** OpenID Connect Core section 2: a subject has at most so many characters; longer ones are refused. */
export const MAX_RECORDED_SUBJECT_CHARS = 255;
/** The same for claims of a JWT: so many of them, and of each so much. */
export const MAX_RECORDED_CLAIMS = 20;
export const MAX_RECORDED_CLAIM_CHARS = 256;
