import { DEFAULT_METHODS } from '@gateway/shared/http/methods';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Snapshot, SnapshotVersion } from '@gateway/shared/snapshot/schema';
import { runAtOnce } from '@gateway/shared/pace';
import { compileEnvironment } from './compile.ts';
import { EXAMPLE_SNAPSHOT } from '../../test/example-snapshot.ts';
import { EMPTY_TABLE, findToken, upstreamsOf, withEnvironment } from './routing-table.ts';

const compile = (...args: Parameters<typeof compileEnvironment>) =>
  runAtOnce(compileEnvironment(...args));

const LIMITS = { maxInFlight: 200, maxConnections: 20, maxPending: 0, adaptive: true };
const NO_LIMITS = {
  maxInFlight: undefined,
  maxConnections: undefined,
  maxPending: undefined,
  adaptive: false,
};

const UPSTREAMS = [
  {
    key: 'svc_1 ups_1 https://pay.test',
    id: 'ups_1',
    serviceId: 'svc_1',
    url: 'https://pay.test/api/',
    origin: 'https://pay.test',
    host: 'pay.test',
    basePath: '/api',
    region: 'eu',
    weight: 2,
    limits: LIMITS,
  },
  {
    key: 'svc_1 ups_2 http://10.0.0.1:8080',
    id: 'ups_2',
    serviceId: 'svc_1',
    url: 'http://10.0.0.1:8080',
    origin: 'http://10.0.0.1:8080',
    host: '10.0.0.1:8080',
    basePath: '',
    region: null,
    weight: 1,
    limits: LIMITS,
  },
];

const PAYMENTS = {
  id: 'svc_1',
  name: 'payments',
  upstreams: UPSTREAMS,
  healthCheck: {
    path: '/alive',
    intervalMs: 5000,
    timeoutMs: 2000,
    healthyThreshold: 2,
    unhealthyThreshold: 3,
  },
  limits: LIMITS,
  protocol: 'http1',
  websocketProtocol: 'http1',
  sendVia: false,
};

const PAYMENTS_NEXT = {
  id: 'svc_2',
  name: 'payments-next',
  upstreams: [
    {
      key: 'svc_2 ups_3 http://10.0.0.2',
      id: 'ups_3',
      serviceId: 'svc_2',
      url: 'http://10.0.0.2',
      origin: 'http://10.0.0.2',
      host: '10.0.0.2',
      basePath: '',
      region: null,
      weight: 1,
      limits: NO_LIMITS,
    },
  ],
  healthCheck: {
    path: '/',
    intervalMs: 500,
    timeoutMs: 100,
    healthyThreshold: 1,
    unhealthyThreshold: 1,
  },
  limits: NO_LIMITS,
  protocol: 'http1',
  websocketProtocol: 'http1',
  sendVia: false,
};

const SEED: unknown = expect.any(Number);

describe('compileEnvironment', () => {
  it('compiles this snapshot to exactly this table', () => {
    const table = compile(EXAMPLE_SNAPSHOT);
    expect({ name: table.name, version: table.version }).toEqual({
      name: 'production',
      version: 7,
    });
    expect(Object.fromEntries(table.routes)).toEqual({
      pay: {
        id: 'rte_1',
        name: 'pay',
        environment: 'production',
        versions: [
          { name: 'v1', service: PAYMENTS, weight: 90, seed: SEED },
          { name: 'v2', service: PAYMENTS_NEXT, weight: 0, seed: SEED },
        ],
        settings: expect.objectContaining({
          revision: 2,
          timeout_ms: 5000,
          retry_count: 2,
          max_body_bytes: 1024,
          regions: ['eu', 'us'],
        }),
        methods: new Set(['GET', 'POST']),
        auth: {
          type: 'jwt',
          issuer: 'https://issuer.test',
          audience: ['pay'],
          jwksUrl: 'https://issuer.test/keys',
          algorithms: ['ES256'],
          requiredClaims: [
            { name: 'tenant', values: new Set(['a', 7, true]) },
            { name: 'sub', values: undefined },
          ],
        },
        idempotency: {
          mode: 'off',
          required: true,
          onUnknown: 'forward',
          repeatableStatuses: [503],
        },
        quota: {
          key: 'production/pay',
          withoutCredentials: false,
          limit: 100,
          windowMs: 60_000,
          per: 'token',
          refuseWithoutStore: false,
        },
        retry: {
          onStatuses: new Set([502, 503]),
          perAttemptTimeoutMs: 900,
          backoffMs: 25,
          unsafeMethods: 'with_idempotency_key',
        },
      },
      open: {
        id: 'rte_2',
        name: 'open',
        environment: 'production',
        versions: [{ name: undefined, service: PAYMENTS, weight: 1, seed: SEED }],
        settings: expect.objectContaining({
          revision: 1,
          timeout_ms: 1,
          retry_count: 0,
          max_body_bytes: 0,
          regions: [],
        }),
        methods: new Set(DEFAULT_METHODS),
        auth: { type: 'none' },
        idempotency: {
          mode: 'store',
          required: false,
          onUnknown: 'refuse',
          repeatableStatuses: [425, 429],
        },
        quota: {
          key: 'production/open',
          withoutCredentials: true,
          limit: 1,
          windowMs: 1000,
          per: 'route',
          refuseWithoutStore: false,
        },
        retry: {
          onStatuses: new Set(),
          perAttemptTimeoutMs: undefined,
          backoffMs: 0,
          unsafeMethods: 'never',
        },
      },
    });
    const first = {
      id: 'tok_1',
      environments: ['production'],
      routes: new Set(['pay']),
      mayProxy: true,
    };
    expect(Object.fromEntries(table.tokens)).toEqual({
      aa: { ...first, expiresAtMs: Infinity },
      bb: { ...first, expiresAtMs: 1234 },
      cc: {
        id: 'tok_2',
        environments: ['*'],
        routes: new Set(['*']),
        mayProxy: false,
        expiresAtMs: 5,
      },
    });
  });

  it('compiles a service once for all its routes and versions', () => {
    const table = compile(EXAMPLE_SNAPSHOT);
    const services = [...table.routes.values()].map((route) => route.versions[0]?.service);
    expect(services[0]).toBe(table.services.get('svc_1'));
    expect(services[1]).toBe(table.services.get('svc_1'));
    expect([...table.services.keys()]).toEqual(['svc_1', 'svc_2']);
  });

  const isRefused = (snapshot: Snapshot, name: string) => {
    const table = compile(snapshot);
    expect(table.routes.has(name)).toBe(false);
    return table.refusedNames.get(name)?.route.reason;
  };

  it('refuses the requests of a route with two versions of one name, or without a weight, and of no other', () => {
    const withVersions = (versions: SnapshotVersion[]): Snapshot => ({
      ...EXAMPLE_SNAPSHOT,
      routes: EXAMPLE_SNAPSHOT.routes.map((route) =>
        route.name === 'pay' ? { ...route, versions } : route,
      ),
    });
    const one = { name: 'v1', service_id: 'svc_1', weight: 0 };
    expect(isRefused(withVersions([one, { ...one, weight: 1 }]), 'pay')).toContain('same name');
    expect(isRefused(withVersions([one]), 'pay')).toContain('weight above 0');
    expect(compile(withVersions([one])).routes.get('open')?.id).toBe('rte_2');
  });

  it('refuses the requests of a route to a missing service', () => {
    const services = EXAMPLE_SNAPSHOT.services.filter(({ id }) => id !== 'svc_2');
    const snapshot = { ...EXAMPLE_SNAPSHOT, services };
    expect(isRefused(snapshot, 'pay')).toBe('its service svc_2 is missing or cannot be used');
    expect([...compile(snapshot).routes.keys()]).toEqual(['open']);
  });

  it('leaves out a service that does not compile, and refuses the requests of its routes', () => {
    const services = EXAMPLE_SNAPSHOT.services.map((service) =>
      service.id === 'svc_2'
        ? { ...service, upstreams: [{ id: 'ups_1', url: 'no url', region: null, weight: 1 }] }
        : service,
    );
    const table = compile({ ...EXAMPLE_SNAPSHOT, services });
    expect([...table.services.keys()]).toEqual(['svc_1']);
    expect([...table.routes.keys()]).toEqual(['open']);
    expect([...table.unusable.values()].map(({ kind, id, name }) => [kind, id, name])).toEqual([
      ['service', 'svc_2', undefined],
      ['route', 'rte_1', 'pay'],
    ]);
  });

  it('refuses the requests to a name that two routes claim', () => {
    const routes = EXAMPLE_SNAPSHOT.routes.map((route) => ({ ...route, name: 'same' }));
    const snapshot = { ...EXAMPLE_SNAPSHOT, routes };
    expect(isRefused(snapshot, 'same')).toBe('another route has the same name');
    expect([...compile(snapshot).unusable.keys()]).toEqual(['route rte_1', 'route rte_2']);
  });

  it('contains every route and secret of any snapshot and no other', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/), { maxLength: 30 });
    const hashes = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{8}$/), { maxLength: 30 });
    fc.assert(
      fc.property(names, hashes, (routeNames, secretHashes) => {
        const [route] = EXAMPLE_SNAPSHOT.routes;
        const [token] = EXAMPLE_SNAPSHOT.tokens;
        if (route === undefined || token === undefined) throw new Error('the example is empty');
        const table = withEnvironment(
          EMPTY_TABLE,
          compile({
            ...EXAMPLE_SNAPSHOT,
            routes: routeNames.map((name, index) => ({ ...route, id: `rte_${index}`, name })),
            tokens: secretHashes.map((sha256, index) => ({
              ...token,
              id: `tok_${index}`,
              secrets: [{ sha256, expires_at_ms: null }],
            })),
          }),
        );
        const routes = table.environments.get('production')?.routes.keys() ?? [];
        expect([...routes].sort()).toEqual([...routeNames].sort());
        secretHashes.forEach((hash, index) => {
          expect(findToken(table, hash)?.id).toBe(`tok_${index}`);
        });
        expect(findToken(table, 'never')).toBeUndefined();
        expect(upstreamsOf(table).size).toBe(3);
      }),
    );
  });

  it('changes no table that a request may use', () => {
    const before = withEnvironment(EMPTY_TABLE, compile(EXAMPLE_SNAPSHOT));
    const environment = before.environments.get('production');
    const after = withEnvironment(before, compile({ ...EXAMPLE_SNAPSHOT, version: 8, routes: [] }));
    expect(before.environments.get('production')).toBe(environment);
    expect(environment?.routes.size).toBe(2);
    expect(after.environments.get('production')?.routes.size).toBe(0);
    expect(EMPTY_TABLE.environments.size).toBe(0);
  });
});
