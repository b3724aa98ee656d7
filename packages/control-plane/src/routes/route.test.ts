import { describe, expect, it } from '@jest/globals';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import fc from 'fast-check';
import { parseInput } from '../http/input.ts';
import { changeRoute, newSettings, routeSchemas, type RouteSettings } from './route.ts';

const { create: routeInputSchema, change: routeChangeSchema } = routeSchemas(
  parseAddressRanges(['169.254.0.0/16']),
);

const minimal = { name: 'payments', service_id: 'svc_x' };

function details(body: object, schema: typeof routeInputSchema | typeof routeChangeSchema) {
  try {
    parseInput<unknown>(schema, body);
    return [];
  } catch (error) {
    return (error as { details: readonly { path: string; message: string }[] }).details;
  }
}

/** JSON values that are not whole numbers within the bounds. */
function notWithin(min: number, max: number) {
  return fc.oneof(
    fc.integer({ max: min - 1 }),
    fc.integer({ min: max + 1 }),
    fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min, max }).map(String),
    fc.constantFrom(null, true, '', [], {}),
    fc.constantFrom(1e300, -1e300, Number.MAX_SAFE_INTEGER + 1),
  );
}

describe.each([
  { field: 'timeout_ms', min: 1, max: 300_000, fallback: 10_000 },
  { field: 'retry_count', min: 0, max: 10, fallback: 2 },
])('$field', ({ field, min, max, fallback }) => {
  it('has its default', () => {
    expect(routeInputSchema.parse(minimal)).toHaveProperty(field, fallback);
  });

  it('accepts every whole number within its bounds', () => {
    const within = fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
    fc.assert(
      fc.property(within, (value) => {
        expect(routeInputSchema.parse({ ...minimal, [field]: value })).toHaveProperty(field, value);
      }),
    );
  });

  it('refuses every other value with its name and bounds, on create and change', () => {
    const message = `must be a whole number from ${min} to ${max}`;
    fc.assert(
      fc.property(notWithin(min, max), (value) => {
        for (const schema of [routeInputSchema, routeChangeSchema]) {
          expect(details({ ...minimal, [field]: value }, schema)).toEqual([
            { path: field, message },
          ]);
        }
      }),
    );
  });
});

describe('a route body', () => {
  it('gets the documented defaults for omitted fields', () => {
    const { name, service_id, ...settings } = routeInputSchema.parse(minimal);
    expect({ name, service_id }).toEqual(minimal);
    expect(settings).toMatchObject({
      status: 'active',
      timeout_ms: 10_000,
      methods: null,
      auth: { type: 'token' },
      rate_limit: { limit: 60_000, per: 'route' },
      retry: { on_statuses: [502, 503, 504], per_attempt_timeout_ms: null },
    });
    expect(Object.values(settings)).not.toContain(undefined);
  });

  it.each([
    [{ name: 'Payments' }, 'name'],
    [{ name: '-x' }, 'name'],
    [{ name: 'a'.repeat(64) }, 'name'],
    [{ name: 'a/b' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ service_id: 7 }, 'service_id'],
    [{ status: 'paused' }, 'status'],
    [{ methods: [] }, 'methods'],
    [{ methods: ['GET', 'GET'] }, 'methods'],
    [{ methods: ['CONNECT'] }, 'methods.0'],
    [{ methods: ['GET', 'trace'] }, 'methods.1'],
    [{ methods: ['PRI'] }, 'methods.0'],
    [{ methods: ['*'] }, 'methods.0'],
    [{ methods: ['GET POST'] }, 'methods.0'],
    [{ methods: [''] }, 'methods.0'],
    [{ methods: ['M'.repeat(33)] }, 'methods.0'],
    [{ methods: Array.from({ length: 65 }, (_, index) => `M${index}`) }, 'methods'],
    [{ auth: { type: 'magic' } }, 'auth.type'],
    [{ auth: {} }, 'auth.type'],
    [{ rate_limit: { limit: 0 } }, 'rate_limit.limit'],
    [{ rate_limit: { limit: 1_000_000_001 } }, 'rate_limit.limit'],
    [{ rate_limit: { window_seconds: 86_401 } }, 'rate_limit.window_seconds'],
    [{ rate_limit: { per: 'planet' } }, 'rate_limit.per'],
    [{ rate_limit: { burst: 1 } }, 'rate_limit.burst'],
    [{ rate_limit: null }, 'rate_limit'],
    [{ retry: { on_statuses: [200] } }, 'retry.on_statuses.0'],
    [{ retry: { backoff_ms: 10_001 } }, 'retry.backoff_ms'],
    [{ retry: { per_attempt_timeout_ms: 0 } }, 'retry.per_attempt_timeout_ms'],
    [{ retry: { unsafe_methods: 'sometimes' } }, 'retry.unsafe_methods'],
    [{ max_body_bytes: 1024 ** 3 + 1 }, 'max_body_bytes'],
    [{ environment: 'Production' }, 'environment'],
    [{ idempotency: { required: 'yes' } }, 'idempotency.required'],
    [{ idempotency: { on_unknown: 'retry' } }, 'idempotency.on_unknown'],
    [{ idempotency: { ttl: 1 } }, 'idempotency.ttl'],
    [{ idempotency: { mode: 'on' } }, 'idempotency.mode'],
    [{ idempotency: { repeatable_statuses: 429 } }, 'idempotency.repeatable_statuses'],
    [{ idempotency: { repeatable_statuses: [429, 500] } }, 'idempotency.repeatable_statuses.1'],
    [{ idempotency: { repeatable_statuses: [502] } }, 'idempotency.repeatable_statuses.0'],
    [{ idempotency: { repeatable_statuses: [504] } }, 'idempotency.repeatable_statuses.0'],
    [{ idempotency: { repeatable_statuses: [200] } }, 'idempotency.repeatable_statuses.0'],
    [{ idempotency: { repeatable_statuses: ['429'] } }, 'idempotency.repeatable_statuses.0'],
    [{ idempotency: { repeatable_statuses: [429, 429] } }, 'idempotency.repeatable_statuses'],
    [{ idempotency: null }, 'idempotency'],
    [{ regions: 'eu' }, 'regions'],
    [{ regions: ['EU'] }, 'regions.0'],
    [{ regions: ['eu', 'us', 'eu'] }, 'regions'],
    [{ regions: Array.from({ length: 17 }, (_none, index) => `r${index}`) }, 'regions'],
  ])('is refused for %j', (fields, path) => {
    expect(details({ ...minimal, ...fields }, routeInputSchema).map((one) => one.path)).toEqual([
      path,
    ]);
  });

  it('has a service or versions, not both', () => {
    const versions = [{ name: 'v1', service_id: 'svc_x', weight: 1 }];
    expect(details({ name: 'a', versions }, routeInputSchema)).toEqual([]);
    expect(details({ name: 'a', versions, service_id: null }, routeInputSchema)).toEqual([]);
    expect(details({ ...minimal, versions: null }, routeInputSchema)).toEqual([]);
    const both = { ...minimal, versions };
    for (const schema of [routeInputSchema, routeChangeSchema]) {
      expect(details(both, schema)).toEqual([
        { path: 'service_id', message: 'must be left out when `versions` is given' },
      ]);
    }
    const none = { name: 'a', service_id: null, versions: null };
    expect(details(none, routeInputSchema)).toEqual([
      { path: 'service_id', message: 'is required' },
    ]);
  });

  const version = { name: 'v1', service_id: 'svc_x', weight: 1 };
  it.each([
    [[], 'versions'],
    ['v1', 'versions'],
    [[{ ...version, weight: 0 }], 'versions'],
    [[version, version], 'versions.1.name'],
    [[{ ...version, name: '' }], 'versions.0.name'],
    [[{ ...version, name: 'V1' }], 'versions.0.name'],
    [[{ ...version, name: 'a'.repeat(64) }], 'versions.0.name'],
    [[{ ...version, weight: -1 }], 'versions.0.weight'],
    [[{ ...version, weight: 1001 }], 'versions.0.weight'],
    [[{ ...version, weight: 0.5 }], 'versions.0.weight'],
    [[{ name: 'v1', service_id: 'svc_x' }], 'versions.0.weight'],
    [[{ name: 'v1', weight: 1 }], 'versions.0.service_id'],
    [[{ ...version, colour: 'red' }], 'versions.0.colour'],
    [Array.from({ length: 17 }, (_none, index) => ({ ...version, name: `v${index}` })), 'versions'],
  ])('is refused for the versions %j', (versions, path) => {
    const paths = details({ name: 'a', versions }, routeInputSchema).map((one) => one.path);
    expect(paths).toContain(path);
  });

  it('is refused with every missing field', () => {
    expect(details({}, routeInputSchema)).toEqual([
      { path: 'name', message: 'is required' },
      { path: 'service_id', message: 'is required' },
    ]);
  });
});

describe('changeRoute', () => {
  const before: RouteSettings = {
    ...newSettings(routeInputSchema.parse(minimal)),
    rate_limit: { limit: 5, window_seconds: 10, per: 'token', on_store_unavailable: 'share' },
  };

  it('keeps omitted fields, also within rate_limit and retry', () => {
    const change = routeChangeSchema.parse({ rate_limit: { limit: 6 }, retry: { backoff_ms: 1 } });
    expect(changeRoute(before, change)).toEqual({
      ...before,
      rate_limit: { limit: 6, window_seconds: 10, per: 'token', on_store_unavailable: 'share' },
      retry: { ...before.retry, backoff_ms: 1 },
    });
  });

  it('merges idempotency, and replaces auth and regions', () => {
    const first = changeRoute(
      before,
      routeChangeSchema.parse({
        idempotency: { required: true },
        auth: { type: 'api_key' },
        regions: ['eu', 'us'],
      }),
    );
    expect(first).toMatchObject({
      idempotency: { required: true, on_unknown: 'refuse' },
      auth: { type: 'api_key' },
      regions: ['eu', 'us'],
    });
    const change = { idempotency: { on_unknown: 'forward' }, regions: ['us'] };
    expect(changeRoute(first, routeChangeSchema.parse(change))).toEqual({
      ...first,
      idempotency: { ...first.idempotency, on_unknown: 'forward' },
      regions: ['us'],
    });
  });

  it('replaces a service by versions, and versions by a service', () => {
    const versions = [{ name: 'v1', service_id: 'svc_y', weight: 1 }];
    const versioned = changeRoute(before, routeChangeSchema.parse({ versions }));
    expect(versioned).toMatchObject({ service_id: null, versions });
    const kept = changeRoute(versioned, routeChangeSchema.parse({ timeout_ms: 1 }));
    expect(kept).toMatchObject({ service_id: null, versions });
    const back = changeRoute(versioned, routeChangeSchema.parse({ service_id: 'svc_z' }));
    expect(back).toMatchObject({ service_id: 'svc_z', versions: null });
  });

  it('accepts null only for fields that can be null', () => {
    const some = changeRoute(before, routeChangeSchema.parse({ methods: ['GET'] }));
    expect(some.methods).toEqual(['GET']);
    expect(changeRoute(some, routeChangeSchema.parse({ methods: null })).methods).toBeNull();
    const more = ['PROPFIND', 'QUERY', 'M-SEARCH', 'patch'];
    expect(changeRoute(some, routeChangeSchema.parse({ methods: more })).methods).toEqual(more);
    expect(details({ timeout_ms: null }, routeChangeSchema)).toHaveLength(1);
  });
});
