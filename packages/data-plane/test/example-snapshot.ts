import { SNAPSHOT_FORMAT, snapshotSchema, type Snapshot } from '@gateway/shared/snapshot/schema';

/** A snapshot with every kind of service, route and token. */
export const EXAMPLE_SNAPSHOT: Snapshot = snapshotSchema.parse({
  format: SNAPSHOT_FORMAT,
  environment: 'production',
  version: 7,
  services: [
    {
      id: 'svc_1',
      name: 'payments',
      revision: 3,
      upstreams: [
        { id: 'ups_1', url: 'https://pay.test/api/', region: 'eu', weight: 2 },
        { id: 'ups_2', url: 'http://10.0.0.1:8080', region: null, weight: 1 },
      ],
      health_check: {
        path: '/alive',
        interval_ms: 5000,
        timeout_ms: 2000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
      },
      limits: { max_in_flight: 200, max_connections: 20, max_pending: 0, adaptive: true },
    },
    {
      id: 'svc_2',
      name: 'payments-next',
      revision: 1,
      upstreams: [{ id: 'ups_3', url: 'http://10.0.0.2', region: null, weight: 1 }],
      health_check: {
        path: '/',
        interval_ms: 500,
        timeout_ms: 100,
        healthy_threshold: 1,
        unhealthy_threshold: 1,
      },
    },
  ],
  routes: [
    {
      id: 'rte_1',
      name: 'pay',
      revision: 2,
      versions: [
        { name: 'v1', service_id: 'svc_1', weight: 90 },
        { name: 'v2', service_id: 'svc_2', weight: 0 },
      ],
      timeout_ms: 5000,
      retry_count: 2,
      methods: ['GET', 'POST'],
      auth: {
        type: 'jwt',
        issuer: 'https://issuer.test',
        audience: ['pay'],
        jwks_url: 'https://issuer.test/keys',
        algorithms: ['ES256'],
        required_claims: [
          { name: 'tenant', values: ['a', 7, true] },
          { name: 'sub', values: null },
        ],
      },
      rate_limit: { limit: 100, window_seconds: 60, per: 'token' },
      retry: {
        on_statuses: [502, 503],
        per_attempt_timeout_ms: 900,
        backoff_ms: 25,
        unsafe_methods: 'with_idempotency_key',
      },
      idempotency: {
        mode: 'off',
        required: true,
        on_unknown: 'forward',
        repeatable_statuses: [503],
      },
      regions: ['eu', 'us'],
      max_body_bytes: 1024,
    },
    {
      id: 'rte_2',
      name: 'open',
      revision: 1,
      versions: [{ name: null, service_id: 'svc_1', weight: 1 }],
      timeout_ms: 1,
      retry_count: 0,
      methods: null,
      auth: { type: 'none' },
      rate_limit: { limit: 1, window_seconds: 1, per: 'route' },
      retry: {
        on_statuses: [],
        per_attempt_timeout_ms: null,
        backoff_ms: 0,
        unsafe_methods: 'never',
      },
      idempotency: {
        mode: 'store',
        required: false,
        on_unknown: 'refuse',
        repeatable_statuses: [425, 429],
      },
      regions: [],
      max_body_bytes: 0,
    },
  ],
  tokens: [
    {
      id: 'tok_1',
      secrets: [
        { sha256: 'aa', expires_at_ms: null },
        { sha256: 'bb', expires_at_ms: 1234 },
      ],
      environments: ['production'],
      routes: ['pay'],
      scopes: ['proxy'],
    },
    {
      id: 'tok_2',
      secrets: [{ sha256: 'cc', expires_at_ms: 5 }],
      environments: ['*'],
      routes: ['*'],
      scopes: ['routes:read'],
    },
  ],
});
