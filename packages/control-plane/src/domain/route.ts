import type { AddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import {
  choiceField,
  idField,
  integerField,
  listField,
  objectField,
  regionField,
  routeNameField,
} from './fields.ts';
import { authField, authView } from './route-auth.ts';
import { changeTarget, targetOf, versionsField, type RouteTarget } from './route-versions.ts';

const MAX_REGIONS = 16;

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

const idempotencyFields = {
  required: z.boolean({ error: 'must be true or false' }),
  on_unknown: choiceField(['refuse', 'forward']),
};

const idempotencySchema = objectField({
  required: idempotencyFields.required.default(false),
  on_unknown: idempotencyFields.on_unknown.default('refuse'),
});

const fields = {
  name: routeNameField,
  service_id: idField.nullable(),
  versions: versionsField.nullable(),
  status: choiceField(['active', 'disabled']),
  timeout_ms: integerField(1, 300_000),
  retry_count: integerField(0, 10),
  /** null: every method that the proxy path takes. */
  methods: listField(choiceField(ROUTE_METHODS), { min: 1, max: ROUTE_METHODS.length }).nullable(),
  /** Where to go when a data plane's own region has no healthy upstream, in this order. */
  regions: listField(regionField, { min: 0, max: MAX_REGIONS }),
  max_body_bytes: integerField(0, 1024 ** 3),
};

interface TargetBody {
  service_id?: string | null | undefined;
  versions?: unknown[] | null | undefined;
}

const notBoth = {
  path: ['service_id'],
  error: 'must be left out where `versions` is given',
};

function hasBoth(body: TargetBody): boolean {
  return typeof body.service_id === 'string' && Array.isArray(body.versions);
}

/** Also said beside what else is wrong, so that a caller sees all that is missing at once. */
const oneOfThem = {
  path: ['service_id'],
  error: 'is required',
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
};

function hasNone(body: TargetBody): boolean {
  return (body.service_id ?? body.versions ?? null) === null;
}

/** The bodies that create and change a route; `deny` says where the keys of an issuer may not be. */
export function routeSchemas(deny: AddressRanges) {
  const auth = authField(deny);
  return {
    /** What is left out gets the defaults of DESIGN section 2 "Route". */
    create: objectField({
      name: fields.name,
      service_id: fields.service_id.optional(),
      versions: fields.versions.optional(),
      status: fields.status.default('active'),
      timeout_ms: fields.timeout_ms.default(10_000),
      retry_count: fields.retry_count.default(2),
      methods: fields.methods.default(null),
      auth: auth.prefault({ type: 'token' }),
      rate_limit: rateLimitSchema.prefault({}),
      retry: retrySchema.prefault({}),
      idempotency: idempotencySchema.prefault({}),
      regions: fields.regions.default([]),
      max_body_bytes: fields.max_body_bytes.default(10 * 1024 * 1024),
    })
      .refine((body) => !hasNone(body), oneOfThem)
      .refine((body) => !hasBoth(body), notBoth)
      .meta({
        description: 'Names a service or versions, not both.',
        anyOf: [{ required: ['service_id'] }, { required: ['versions'] }],
      }),
    /**
     * Every field may be left out; `rate_limit`, `retry` and `idempotency` are merged into what is
     * stored (RFC 7396), `auth`, `versions` and `regions` take its place.
     */
    change: objectField({
      ...fields,
      auth,
      rate_limit: objectField(rateLimitFields).partial(),
      retry: objectField(retryFields).partial(),
      idempotency: objectField(idempotencyFields).partial(),
    })
      .partial()
      .refine((body) => !hasBoth(body), notBoth),
  };
}

type RouteSchemas = ReturnType<typeof routeSchemas>;
export type RouteInput = z.output<RouteSchemas['create']>;
export type RouteChange = z.output<RouteSchemas['change']>;
export type RateLimit = RouteInput['rate_limit'];
export type Retry = RouteInput['retry'];
export type Idempotency = RouteInput['idempotency'];

/** What an operator sets of a route. */
export interface RouteSettings extends Omit<RouteInput, keyof RouteTarget>, RouteTarget {}

export interface Route extends RouteSettings {
  readonly id: string;
  readonly environment: string;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The settings that a new route's body asks for. */
export function newSettings(body: RouteInput): RouteSettings {
  return { ...body, ...targetOf(body) };
}

/**
 * The settings after a change: what it leaves out stays as it was. They may lead nowhere, where the
 * change takes away the one service, or the versions, and names nothing in their place.
 */
export function changeRoute(before: RouteSettings, change: RouteChange): RouteSettings {
  const { retry, rate_limit, idempotency, service_id, versions, ...plain } = change;
  return {
    ...settingsOf(before),
    ...given(plain),
    ...changeTarget(before, { service_id, versions }),
    rate_limit: { ...before.rate_limit, ...given(rate_limit ?? {}) },
    retry: { ...before.retry, ...given(retry ?? {}) },
    idempotency: { ...before.idempotency, ...given(idempotency ?? {}) },
  };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that hold undefined, which would hide what they are spread over. */
function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<T>;
}

/** The settings alone, without what the gateway keeps about a route, in the order of the API. */
export function settingsOf(route: RouteSettings): RouteSettings {
  const { name, service_id, versions, status, timeout_ms, retry_count } = route;
  const { methods, auth, rate_limit, retry, idempotency, regions, max_body_bytes } = route;
  return {
    ...{ name, service_id, versions, status, timeout_ms, retry_count },
    ...{ methods, auth: authView(auth), rate_limit, retry, idempotency, regions, max_body_bytes },
  };
}
