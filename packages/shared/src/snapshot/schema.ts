import { z } from 'zod';
import { sealedSecretSchema } from '../secrets/secret-vault.ts';
import { JWT_ALGORITHMS } from '../tokens/jwt-algorithms.ts';

/**
 * What a data plane runs: the compiled configuration of one environment.
 *
 * Keys that this version does not know are left out on reading, so that data planes and control
 * planes of neighbouring versions work together. What an older data plane would serve wrongly has a
 * format of its own, which a snapshot is given only where it holds such a thing: that data plane
 * refuses it then, and keeps its last good one.
 */
export const SNAPSHOT_FORMATS = {
  first: 1,
  /** Services have credentials: who does not know them would send requests without. */
  credentials: 2,
  /** Services have their own TLS: who does not know it would trust others, and send no certificate. */
  tls: 3,
} as const;

/** How the upstreams of a service are connected to over TLS. */
const tlsSchema = z.object({
  ca_pem: z.string().optional(),
  server_name: z.string().optional(),
  client_certificate: z.object({ cert_pem: z.string(), key: sealedSecretSchema }).optional(),
});

const upstreamSchema = z.object({
  id: z.string(),
  url: z.string(),
  region: z.string().nullable(),
  weight: z.int().min(1),
});

const healthCheckSchema = z.object({
  path: z.string(),
  interval_ms: z.int().min(1),
  timeout_ms: z.int().min(1),
  healthy_threshold: z.int().min(1),
  unhealthy_threshold: z.int().min(1),
});

export const serviceSchema = z.object({
  id: z.string(),
  name: z.string(),
  revision: z.int(),
  upstreams: z.array(upstreamSchema).min(1),
  health_check: healthCheckSchema,
  /** Left out: the upstreams are sent none. */
  credential: sealedSecretSchema.optional(),
  /** Left out: the roots of the data plane, the name of the host, no certificate. */
  tls: tlsSchema.optional(),
});

const rateLimitSchema = z.object({
  limit: z.int().min(1),
  window_seconds: z.int().min(1),
  per: z.enum(['route', 'token', 'ip']),
});

const retrySchema = z.object({
  on_statuses: z.array(z.int()),
  /** null: an attempt may take all that is left of the deadline. */
  per_attempt_timeout_ms: z.int().min(1).nullable(),
  /** The longest first back-off, ms; it doubles with each retry, and a random part of it is taken. */
  backoff_ms: z.int().min(0),
  unsafe_methods: z.enum(['never', 'with_idempotency_key', 'always']),
});

const versionSchema = z.object({
  /** null: the one version of a route that names a service instead of versions. */
  name: z.string().nullable(),
  service_id: z.string(),
  /** 0: reached by the caller's choice alone. */
  weight: z.int().min(0),
});

/**
 * How the callers of a route prove who they are. A type that this version does not know refuses the
 * whole snapshot, as to serve the route without it would open it.
 */
const authSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('token') }),
  z.object({ type: z.literal('api_key') }),
  z.object({ type: z.literal('none') }),
  z.object({
    type: z.literal('jwt'),
    issuer: z.string(),
    /** The token must be meant for one of these. */
    audience: z.array(z.string()).min(1),
    jwks_url: z.string(),
    algorithms: z.array(z.enum(JWT_ALGORITHMS)).min(1),
    /** `values` null: the claim must be there, whatever it holds; else it must be one of them. */
    required_claims: z.array(
      z.object({
        name: z.string(),
        values: z
          .array(z.union([z.string(), z.number(), z.boolean()]))
          .min(1)
          .nullable(),
      }),
    ),
  }),
]);

const idempotencySchema = z.object({
  /** Whether a request without a key is refused. */
  required: z.boolean(),
  /** What the next use of a key does whose first request has an unknown end. */
  on_unknown: z.enum(['refuse', 'forward']),
});

export const routeSchema = z.object({
  id: z.string(),
  name: z.string(),
  revision: z.int(),
  versions: z.array(versionSchema).min(1),
  timeout_ms: z.int().min(1),
  retry_count: z.int().min(0),
  /** null: every method that the proxy path takes. */
  methods: z.array(z.string()).nullable(),
  auth: authSchema,
  rate_limit: rateLimitSchema,
  retry: retrySchema,
  idempotency: idempotencySchema,
  /** Where to go when the data plane's own region has no healthy upstream, in this order. */
  regions: z.array(z.string()),
  max_body_bytes: z.int().min(0),
});

export const tokenSchema = z.object({
  id: z.string(),
  /**
   * SHA-256 of each secret that opens this token, in hex, with the time (ms since the Unix epoch) from
   * which it no longer does: a rotated token has two of them during its grace period.
   */
  secrets: z.array(z.object({ sha256: z.string(), expires_at_ms: z.number().nullable() })),
  environments: z.array(z.string()),
  routes: z.array(z.string()),
  scopes: z.array(z.string()),
});

export const formatSchema = z.literal(Object.values(SNAPSHOT_FORMATS));

export const snapshotSchema = z.object({
  format: formatSchema,
  environment: z.string(),
  /** Counts up with every publication of the environment. */
  version: z.int().min(1),
  services: z.array(serviceSchema),
  routes: z.array(routeSchema),
  tokens: z.array(tokenSchema),
});

/** A snapshot whose elements were not looked at yet. */
export const snapshotHeadSchema = snapshotSchema.extend({
  services: z.array(z.unknown()),
  routes: z.array(z.unknown()),
  tokens: z.array(z.unknown()),
});

export type Snapshot = z.infer<typeof snapshotSchema>;
export type SnapshotService = z.infer<typeof serviceSchema>;
export type SnapshotTls = z.infer<typeof tlsSchema>;
export type SnapshotUpstream = z.infer<typeof upstreamSchema>;
export type SnapshotHealthCheck = z.infer<typeof healthCheckSchema>;
export type SnapshotRoute = z.infer<typeof routeSchema>;
export type SnapshotVersion = z.infer<typeof versionSchema>;
export type SnapshotAuth = z.infer<typeof authSchema>;
export type SnapshotToken = z.infer<typeof tokenSchema>;
export type RateLimitPolicy = z.infer<typeof rateLimitSchema>;
export type RetryPolicy = z.infer<typeof retrySchema>;
export type IdempotencyPolicy = z.infer<typeof idempotencySchema>;

/** The KV entry of an environment: which object is its newest snapshot, and the proof of it. */
export const pointerSchema = z.object({
  environment: z.string(),
  version: z.int().min(1),
  /** Name of the object that holds the gzip of the snapshot's JSON. */
  object: z.string(),
  /** Hash of the object's bytes, hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Id of the master key from which the signing key was derived. */
  key_id: z.string(),
  /** HMAC-SHA-256 over the other fields, hex. */
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

export type SnapshotPointer = z.infer<typeof pointerSchema>;
