import { z } from 'zod';
import {
  choiceField,
  idField,
  integerField,
  listField,
  objectField,
  routeNameField,
  timeView,
} from './fields.ts';

export const ROUTE_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const rateLimitFields = {
  limit: integerField(1, 1_000_000_000),
  window_seconds: integerField(1, 86_400),
  per: choiceField(['route', 'token', 'ip']),
};

const rateLimitSchema = objectField({
  limit: rateLimitFields.limit.default(60_000),
  window_seconds: rateLimitFields.window_seconds.default(60),
  per: rateLimitFields.per.default('route'),
});

const statusMessage = 'must be 429 or a status from 500 to 599';

const retryFields = {
  on_statuses: listField(
    z.int({ error: statusMessage }).refine((status) => isRetryable(status), {
      error: statusMessage,
    }),
    { min: 0, max: 20 },
  ),
  /** null: an attempt may take all that is left of the deadline. */
  per_attempt_timeout_ms: integerField(1, 300_000).nullable(),
  backoff_ms: integerField(0, 10_000),
  unsafe_methods: choiceField(['never', 'with_idempotency_key', 'always']),
};

const retrySchema = objectField({
  on_statuses: retryFields.on_statuses.default([502, 503, 504]),
  per_attempt_timeout_ms: retryFields.per_attempt_timeout_ms.default(null),
  backoff_ms: retryFields.backoff_ms.default(25),
  unsafe_methods: retryFields.unsafe_methods.default('never'),
});

function isRetryable(status: number): boolean {
  return status === 429 || (status >= 500 && status <= 599);
}

const fields = {
  name: routeNameField,
  service_id: idField,
  status: choiceField(['active', 'disabled']),
  timeout_ms: integerField(1, 300_000),
  retry_count: integerField(0, 10),
  /** null: every method that the proxy path takes. */
  methods: listField(choiceField(ROUTE_METHODS), { min: 1, max: ROUTE_METHODS.length }).nullable(),
  auth: objectField({ type: choiceField(['token', 'none']) }),
  max_body_bytes: integerField(0, 1024 ** 3),
};

/** The body that creates a route; what is left out gets the defaults of DESIGN section 2 "Route". */
export const routeInputSchema = objectField({
  name: fields.name,
  service_id: fields.service_id,
  status: fields.status.default('active'),
  timeout_ms: fields.timeout_ms.default(10_000),
  retry_count: fields.retry_count.default(2),
  methods: fields.methods.default(null),
  auth: fields.auth.prefault({ type: 'token' }),
  rate_limit: rateLimitSchema.prefault({}),
  retry: retrySchema.prefault({}),
  max_body_bytes: fields.max_body_bytes.default(10 * 1024 * 1024),
});

/** Every field may be left out; `rate_limit` and `retry` are merged into what is stored (RFC 7396). */
export const routeChangeSchema = objectField({
  ...fields,
  rate_limit: objectField(rateLimitFields).partial(),
  retry: objectField(retryFields).partial(),
}).partial();

export type RouteInput = z.output<typeof routeInputSchema>;
export type RouteChange = z.output<typeof routeChangeSchema>;
export type RouteStatus = RouteInput['status'];
export type RouteAuth = RouteInput['auth'];
export type RateLimit = RouteInput['rate_limit'];
export type Retry = RouteInput['retry'];

export interface Route extends RouteInput {
  readonly id: string;
  readonly environment: string;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The settings after a change: what it leaves out stays as it was. */
export function changeRoute(before: RouteInput, change: RouteChange): RouteInput {
  return routeInputSchema.parse({
    ...settingsOf(before),
    ...change,
    rate_limit: { ...before.rate_limit, ...change.rate_limit },
    retry: { ...before.retry, ...change.retry },
  });
}

/** What an operator sets of a route, without what the gateway keeps about it. */
export function settingsOf(route: RouteInput): RouteInput {
  const { name, service_id, status, timeout_ms, retry_count } = route;
  const { methods, auth, rate_limit, retry, max_body_bytes } = route;
  return {
    ...{ name, service_id, status, timeout_ms, retry_count },
    ...{ methods, auth, rate_limit, retry, max_body_bytes },
  };
}

/** A route as the API shows it. Source: DESIGN section 2 "Route". */
export const routeViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  service_id: z.string(),
  environment: z.string(),
  status: z.enum(['active', 'disabled']),
  timeout_ms: z.int(),
  retry_count: z.int(),
  methods: z.array(z.string()).nullable(),
  auth: z.object({ type: z.string() }),
  rate_limit: z.object({ limit: z.int(), window_seconds: z.int(), per: z.string() }),
  retry: z.object({
    on_statuses: z.array(z.int()),
    per_attempt_timeout_ms: z.int().nullable(),
    backoff_ms: z.int(),
    unsafe_methods: z.string(),
  }),
  max_body_bytes: z.int(),
  revision: z.int(),
  created_at: timeView,
  updated_at: timeView,
});

export function routeView(route: Route): z.output<typeof routeViewSchema> {
  const { id, environment, revision, created_at, updated_at } = route;
  const { limit, window_seconds, per } = route.rate_limit;
  const { on_statuses, per_attempt_timeout_ms, backoff_ms, unsafe_methods } = route.retry;
  return {
    id,
    environment,
    ...settingsOf(route),
    // Postgres keeps the fields of an object in an order of its own.
    rate_limit: { limit, window_seconds, per },
    retry: { on_statuses, per_attempt_timeout_ms, backoff_ms, unsafe_methods },
    revision,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
