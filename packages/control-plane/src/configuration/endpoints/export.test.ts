import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DOCUMENT, newAppliedEnvironment, summaryOf } from '../../../test/applied-environment.ts';
import { startTestApi, type TestApi } from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => void (api = await startTestApi()));
afterAll(() => api.close());

describe('GET /v1/environments/{name}/export', () => {
  it('is in the order of names and without defaults but one, whatever the order of creation', async () => {
    const { name, apply, dump } = await newAppliedEnvironment(api);
    await apply({ services: DOCUMENT.services.toReversed(), routes: DOCUMENT.routes.toReversed() });
    const routes = DOCUMENT.routes.map((route) => ({ ...route, locations: 'map' }));
    expect(await dump()).toEqual({ environment: name, ...DOCUMENT, routes });
  });

  it('applied as it is changes nothing, and makes the same environment elsewhere', async () => {
    const names = ['a', 'b', 'c'];
    const service = fc
      .record(
        {
          url: fc.constantFrom('http://a.example', 'https://b.example/base'),
          health_path: fc.constantFrom('/healthz', '/up'),
          health_check: fc.record(
            {
              path: fc.constantFrom(null, '/live'),
              interval_ms: fc.integer({ min: 500, max: 9000 }),
            },
            { requiredKeys: [] },
          ),
          protocol: fc.constantFrom('http1', 'http2', 'auto'),
          send_via: fc.boolean(),
          limits: fc.record({ max_pending: fc.constantFrom(null, 3) }, { requiredKeys: [] }),
          tls: fc.constantFrom(null, { server_name: 'inner.example' }),
        },
        { requiredKeys: ['url'] },
      )
      .map((one) => (one.protocol === 'http2' ? { ...one, websocket_protocol: 'http2' } : one));
    const route = fc.record(
      {
        service: fc.constantFrom(...names),
        timeout_ms: fc.integer({ min: 1, max: 300_000 }),
        methods: fc.constantFrom(null, ['GET'], ['POST', 'GET']),
        auth: fc.constantFrom<object>(
          { type: 'none' },
          { type: 'jwt', issuer: 'i', audience: 'a', jwks_url: 'https://keys.example' },
        ),
        retry: fc.record({ backoff_ms: fc.nat(100) }),
        idempotency: fc.record(
          {
            mode: fc.constantFrom('store', 'off'),
            required: fc.boolean(),
            repeatable_statuses: fc.constantFrom([], [425, 429], [429, 503]),
          },
          { requiredKeys: [] },
        ),
        regions: fc.constantFrom([], ['eu']),
        status: fc.constantFrom('active', 'disabled'),
      },
      { requiredKeys: ['service'] },
    );
    const [from, to] = [await newAppliedEnvironment(api), await newAppliedEnvironment(api)];
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(service, service, service),
        fc.array(route, { maxLength: 4 }),
        async (services, routes) => {
          const document = {
            services: services.map((one, at) => ({ name: names[at], ...one })),
            routes: routes.map((one, at) => ({ name: `r${at}`, ...one })),
            prune: true,
          };
          const applied = await from.apply(document);
          expect({ status: applied.status, text: applied.text }).toMatchObject({ status: 200 });
          const exported = await from.dump();
          expect(summaryOf(await from.apply({ ...exported, prune: true }))).toMatchObject({
            changed: false,
          });
          await to.apply({ ...exported, environment: to.name, prune: true });
          expect({ ...(await to.dump()), environment: from.name }).toEqual(exported);
        },
      ),
      { numRuns: 30 },
    );
  });
});
