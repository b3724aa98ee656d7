import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CallOptions } from '../../harness/client.ts';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { brokenBodies, type KnownValues } from './arbitrary.ts';
import { ApiDocument, type Operation } from './document.ts';
import {
  bodyOf,
  defined,
  exampleBodies,
  queryOf,
  requiredQuery,
  texts,
  validBodies,
} from './requests.ts';
import { makeResources, type Resources } from './resources.ts';

const START_TIMEOUT_MS = 60_000;
/** Generated valid requests of each operation, and as many invalid ones. */
const RUNS = 8;
/** On a slow machine the later generated requests are left out, so that the test ends. */
const BUDGET_MS = 15_000;
/** They accept bodies of more than 1 MiB. */
const LARGE_BODIES = new Set(['applyEnvironment']);

describe('the management API answers as its document says', () => {
  let gateway: Gateway;
  let document: ApiDocument;
  let resources: Resources;
  let known: KnownValues;
  /** How often each operation gave each status. */
  const seen = new Map<string, Map<number, number>>();

  beforeAll(async () => {
    gateway = await startGateway();
    document = new ApiDocument((await gateway.admin.get('/v1/openapi.json')).body);
    resources = await makeResources(gateway);
    const url = fc.constantFrom(gateway.upstream.url, `${gateway.upstream.url}/base`);
    known = {
      url,
      jwks_url: url,
      service_id: fc.constant(resources.serviceId),
      token_id: fc.constant(resources.tokenId),
      environment: fc.constant('production'),
      environments: fc.constantFrom(['production'], ['*'], ['production', 'development']),
      expires_at: fc.constantFrom(null, '2100-01-01T00:00:00Z'),
      version: fc.constantFrom(1, 2, 99),
      from: fc.constantFrom(1, 2),
      to: fc.constantFrom(1, 2),
      name: fc.uuid().map((id) => `n${id}`),
    };
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    const counts = [...seen.values()].flatMap((statuses) => [...statuses.values()]);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const documented = document.operations.flatMap(({ responses }) => Object.keys(responses));
    process.stdout.write(
      `contract: ${total} responses of ${seen.size} operations, ${counts.length} of their ${documented.length} documented statuses\n`,
    );
    await gateway.close();
  });

  /** Sends a request and checks the response against the document. */
  async function send(
    operation: Operation,
    path: string,
    options: CallOptions & { readonly method?: string } = {},
  ): Promise<number> {
    const { method = operation.method } = options;
    const response = await gateway.admin.call(method, path, options);
    const counts = seen.get(operation.operationId) ?? new Map<number, number>();
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    seen.set(operation.operationId, counts);
    const differences = document.differences(operation, response);
    const what = `${method} ${path}`;
    expect({ what, options, differences }).toEqual({ what, options, differences: [] });
    return response.status;
  }

  /** In `development` a rollback removes nothing that other operations need. */
  function valuesFor({ operationId }: Operation): KnownValues {
    const isRollback = operationId.startsWith('rollBack');
    return isRollback ? { ...known, environment: fc.constant('development') } : known;
  }

  it('to valid requests', async () => {
    const startedMs = performance.now();
    for (const operation of document.operations) {
      const values = valuesFor(operation);
      const parts = fc.record({
        exists: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, fc.boolean()),
        query: texts('query', operation, document, values),
        headers: texts('header', operation, document, values),
        body: validBodies(operation, document, values),
      });
      const property = fc.asyncProperty(parts, async ({ exists, query, headers, body }) => {
        if (performance.now() - startedMs > BUDGET_MS) return;
        const path = await resources.pathOf(operation, exists);
        await send(operation, path + queryOf(query), { headers: defined(headers), body });
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });

      // The plainest request succeeds, whatever the generated ones did.
      const plain = exampleBodies(operation, { ...values, version: fc.constant(1) });
      const [body] = fc.sample(plain, 1);
      const path = (await resources.pathOf(operation, true)) + requiredQuery(operation);
      const status = await send(operation, path, { body });
      expect([operation.operationId, status < 300]).toEqual([operation.operationId, true]);
    }
  });

  it('to invalid bodies, with 400', async () => {
    let refused = 0;
    for (const operation of document.operations) {
      if (operation.requestBody === undefined) continue;
      const { schema } = bodyOf(operation);
      const path = await resources.pathOf(operation, true);
      const bodies = brokenBodies(validBodies(operation, document, valuesFor(operation)));
      const property = fc.asyncProperty(bodies, async (body) => {
        const text = JSON.stringify(body);
        const status = await send(operation, path + requiredQuery(operation), { body: text });
        if (document.matches(schema, body)) return;
        refused += 1;
        expect([text, status]).toEqual([text, 400]);
      });
      await fc.assert(property, { numRuns: 2 * RUNS, endOnFailure: true });
    }
    process.stdout.write(`contract: ${refused} invalid bodies refused\n`);
    expect(refused).toBeGreaterThan(50);
  });

  it('to invalid queries, with 400', async () => {
    const junk = fc.constantFrom('', '\u{1f40c}', 'x y', '-1', '1e9', 'Ümlaut', '9'.repeat(40));
    for (const operation of document.operations) {
      const path = await resources.pathOf(operation, true);
      expect(await send(operation, `${path}?unknown=1`)).toBe(isPublic(operation) ? 200 : 400);
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        if (place !== 'query') continue;
        for (const value of fc.sample(junk, 3)) {
          const status = await send(operation, path + queryOf({ [name]: value }));
          if (document.matches(schema, value, 'text')) continue;
          expect([name, value, status]).toEqual([name, value, 400]);
        }
      }
    }
  });

  it('to other methods, media types and callers without the right', async () => {
    const { token: weak } = await gateway.tokenClient({ name: 'weak', scopes: ['proxy'] });
    for (const operation of document.operations) {
      const path = await resources.pathOf(operation, true);
      expect(await send(operation, path, { method: 'OPTIONS' })).toBe(405);
      if (isPublic(operation)) continue;
      expect(await send(operation, path, { token: null })).toBe(401);
      const needsScope = /It needs the scope `/.test(operation.description);
      if (needsScope) expect(await send(operation, path, { token: weak })).toBe(401);
      if (operation.requestBody === undefined) continue;
      const headers = { 'content-type': 'text/plain' };
      expect(await send(operation, path, { headers, body: 'x' })).toBe(415);
      expect(await send(operation, path, { body: '{"' })).toBe(400);
      if (LARGE_BODIES.has(operation.operationId)) continue;
      expect(await send(operation, path, { body: `"${'x'.repeat(1024 * 1024)}"` })).toBe(413);
    }
  });

  it('to an address with too many failed authentications', async () => {
    const failing = { token: 'gwt_wrong' };
    for (const operation of document.operations) {
      if (isPublic(operation)) continue;
      const path = await resources.pathOf(operation, false);
      // The failures are counted by the minute, and another one may have begun.
      await eventually(async () => {
        const status = await send(operation, path, failing);
        if (status === 429) return;
        // `get` would repeat a refused call.
        const fail = () => gateway.admin.call('GET', '/v1/services', failing);
        await Promise.all(Array.from({ length: 50 }, fail));
        throw new Error(`not refused yet: ${status}`);
      });
    }
  });
});

function isPublic({ security }: Operation): boolean {
  return security?.length === 0;
}
