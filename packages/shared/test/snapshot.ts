import {
  SNAPSHOT_FORMAT,
  routeSchema,
  serviceSchema,
  type Snapshot,
  type SnapshotRoute,
} from '../src/snapshot/schema.ts';
import { hashTokenSecret } from '../src/tokens/secret.ts';

/** The limits of a service that sets none. */
export const DEFAULT_LIMITS = serviceSchema.shape.limits.parse({});

/** The health checks of the service of `testSnapshot`. */
export const TEST_HEALTH_CHECK = {
  type: 'http' as const,
  grpc_service: '',
  path: '/healthz',
  interval_ms: 5000,
  timeout_ms: 2000,
  healthy_threshold: 2,
  unhealthy_threshold: 3,
};

/** A snapshot of `production` with one route, `test`, and one token. */
export function testSnapshot(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  token: string,
): Snapshot {
  const { upstreams, ...fields } = route;
  return {
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    version: 1,
    services: [
      {
        id: 'svc_test',
        name: 'test',
        revision: 1,
        upstreams: upstreams.map((url, index) => ({
          id: `ups_${index}`,
          url,
          region: null,
          weight: 1,
        })),
        health_check: TEST_HEALTH_CHECK,
        protocol: 'http1',
        websocket_protocol: 'http1',
        send_via: false,
        limits: DEFAULT_LIMITS,
      },
    ],
    routes: [
      routeSchema.parse({
        id: 'rte_test',
        name: 'test',
        revision: 1,
        versions: [{ name: null, service_id: 'svc_test', weight: 1 }],
        timeout_ms: 5000,
        retry_count: 2,
        methods: null,
        auth: { type: 'token' },
        rate_limit: { limit: 1000, window_seconds: 3600, per: 'route' },
        retry: {
          on_statuses: [502, 503, 504],
          per_attempt_timeout_ms: null,
          backoff_ms: 1,
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
        ...fields,
      }),
    ],
    tokens: [testToken(token)],
  };
}

/** The snapshot entry of a token, by default with all rights. */
export function testToken(
  secret: string,
  fields: Partial<Snapshot['tokens'][number]> & { expires_at_ms?: number } = {},
): Snapshot['tokens'][number] {
  const { expires_at_ms: expiresAtMs = null, ...reach } = fields;
  return {
    id: 'tok_test',
    secrets: [{ sha256: hashTokenSecret(secret), expires_at_ms: expiresAtMs }],
    environments: ['*'],
    routes: ['*'],
    scopes: ['*'],
    ...reach,
  };
}
