import { expectRefusal } from '@gateway/data-plane/testing/refusal';
import { eventually } from '@gateway/shared/testing/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../gateway/gateway.ts';
import { createCallers, ENVIRONMENTS, type Callers } from './callers.ts';
import { CALLERS, PROXY } from './expectations.ts';

const startTimeoutMs = 60_000;
const dataPlanes = 2;

const CELLS = PROXY.flatMap(([what, cells]) =>
  CALLERS.map((caller) => [what, cells.get(caller) ?? 'x', caller] as const),
);

/** How each row is asked for: the path below /v1/proxy/, and how the request differs from others. */
const REQUESTS: Readonly<Record<string, { path: string; apiKey?: true; unnamed?: true }>> = {
  'a route by token': { path: 'orders' },
  'a path below a route': { path: 'orders/deep/path?a=1' },
  'a route by API key': { path: 'fresh', apiKey: true },
  'a route that is open to all': { path: 'open' },
  'a route that is not there': { path: 'missing' },
  'no environment named': { path: 'orders', unnamed: true },
};

describe('the isolation matrix of the proxy path', () => {
  let gateway: Gateway;
  let callers: Callers;

  beforeAll(async () => {
    const env = { AUTH_FAILURE_LIMIT: '100000' };
    gateway = await startGateway({ dataPlanes, env });
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'fresh', auth: { type: 'api_key' } });
    await gateway.route({ name: 'open', auth: { type: 'none' } });
    callers = await createCallers(gateway, ENVIRONMENTS.production);
    await gateway.settled();
    // Tokens of another environment come with the news of that one.
    await gateway.settled('development');
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  /** What arrived of this request at the upstream. */
  const arrived = (id: string | null) =>
    gateway.upstream.seen.filter((seen) => seen.headers['x-request-id'] === id).length;

  it.each(CELLS)('%s answers %s to a caller %s', async (what, expected, caller) => {
    const request = REQUESTS[what];
    if (request === undefined) throw new Error(`it is not said how ${what} is asked for`);
    const token = callers.get(caller) ?? null;
    for (const { baseUrl } of gateway.dataPlanes) {
      const answer = await gateway.admin.at(baseUrl).proxy(request.path, {
        token: request.apiKey ? null : token,
        headers: {
          ...(request.apiKey && token !== null && { 'x-api-key': token }),
          ...(!request.unnamed && { 'x-gateway-environment': 'production' }),
        },
      });
      const id = answer.headers.get('x-request-id');
      if (expected === 'x') await expectRefusal(answer, 401, 'authentication_failed');
      else if (expected === '404') await expectRefusal(answer, 404, 'route_not_found');
      else expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
      expect(arrived(id)).toBe(expected === 'ok' ? 1 : 0);
      if (caller !== 'without a token') continue;
      // Every request has a record, which those see who have all of its environment and its route.
      await eventually(async () => {
        expect((await gateway.admin.get(`/v1/requests/${id ?? ''}`)).status).toBe(200);
      });
    }
  });
});
