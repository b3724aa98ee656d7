import type { components } from '@gateway/client';
import type { Draft } from '../../ui/form/draft.ts';

type Route = components['schemas']['Route'];

/** The fields of a route whose objects a PATCH merges. */
export const MERGED_ROUTE_FIELDS = ['rate_limit', 'retry', 'idempotency', 'access_log'] as const;

/** Fields of which one replaces the other. */
export const TARGET_FIELDS = ['service_id', 'versions'] as const;

/** What the API takes for a field that is left out. */
export const ROUTE_DEFAULTS: Draft = {
  status: 'active',
  timeout_ms: 10_000,
  retry_count: 2,
  methods: null,
  auth: { type: 'token' },
  rate_limit: { limit: 60_000, window_seconds: 60, per: 'route', on_store_unavailable: 'share' },
  retry: {
    on_statuses: [502, 503, 504],
    per_attempt_timeout_ms: null,
    backoff_ms: 25,
    unsafe_methods: 'never',
  },
  idempotency: {
    mode: 'store',
    required: false,
    on_unknown: 'refuse',
    repeatable_statuses: [425, 429],
  },
  regions: [],
  max_body_bytes: 10 * 1024 * 1024,
  allow_encoded_control_characters: false,
  access_log: { enabled: true, sample_ratio: 1 },
};

/** The draft of a route that does not exist yet. */
export const NEW_ROUTE: Draft = {
  name: '',
  service_id: null,
  versions: null,
  ...ROUTE_DEFAULTS,
};

/** What can be edited of a route. */
export function draftOf(route: Route): Draft {
  const fields: Draft = { ...route };
  return Object.fromEntries(Object.keys(NEW_ROUTE).map((name) => [name, fields[name]]));
}
