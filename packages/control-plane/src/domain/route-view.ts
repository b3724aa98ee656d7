import { parseAddressRanges } from '@gateway/shared/net/upstream-addresses';
import { z } from 'zod';
import { timeView } from './fields.ts';
import { authField } from './route-auth.ts';
import { settingsOf, type Route } from './route.ts';

const versionViewSchema = z.object({
  name: z.string(),
  service_id: z.string(),
  weight: z.int(),
});

/** A route as the API shows it. Source: DESIGN section 2 "Route". */
export const routeViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** null where the route has versions. */
  service_id: z.string().nullable(),
  /** null where the route names a service. */
  versions: z.array(versionViewSchema).nullable(),
  environment: z.string(),
  status: z.enum(['active', 'disabled']),
  timeout_ms: z.int(),
  retry_count: z.int(),
  methods: z.array(z.string()).nullable(),
  auth: authField(parseAddressRanges([])),
  rate_limit: z.object({ limit: z.int(), window_seconds: z.int(), per: z.string() }),
  retry: z.object({
    on_statuses: z.array(z.int()),
    per_attempt_timeout_ms: z.int().nullable(),
    backoff_ms: z.int(),
    unsafe_methods: z.string(),
  }),
  idempotency: z.object({ required: z.boolean(), on_unknown: z.string() }),
  regions: z.array(z.string()),
  max_body_bytes: z.int(),
  revision: z.int(),
  created_at: timeView,
  updated_at: timeView,
});

export type RouteView = z.output<typeof routeViewSchema>;

export function routeView(route: Route): RouteView {
  const { id, environment, revision, created_at, updated_at } = route;
  const { limit, window_seconds, per } = route.rate_limit;
  const { on_statuses, per_attempt_timeout_ms, backoff_ms, unsafe_methods } = route.retry;
  const { required, on_unknown } = route.idempotency;
  return {
    id,
    environment,
    ...settingsOf(route),
    // Postgres keeps the fields of an object in an order of its own.
    versions:
      route.versions?.map(({ name, service_id, weight }) => ({ name, service_id, weight })) ?? null,
    rate_limit: { limit, window_seconds, per },
    retry: { on_statuses, per_attempt_timeout_ms, backoff_ms, unsafe_methods },
    idempotency: { required, on_unknown },
    revision,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
