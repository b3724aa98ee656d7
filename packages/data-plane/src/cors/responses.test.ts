import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { corsOf, OTHER_PAGE, PAGE, send, type Answer } from '../../test/cors-world.ts';
import type { RouteCors } from '@gateway/shared/definitions/route-cors';

const opened = closeAfterEach();

const UPSTREAMS = {
  'Access-Control-Allow-Origin': 'https://else.test',
  'access-control-allow-credentials': 'true',
  'Access-Control-Expose-Headers': 'x-theirs',
  'Access-Control-Allow-Private-Network': 'true',
};

/** A route `test` with this `cors`, and one without, `plain`. */
async function setUp(
  cors: RouteCors,
  answer: (seen: SeenRequest, response: ServerResponse) => void = (_seen, response) => {
    response.writeHead(200, { ...UPSTREAMS, 'X-Theirs': '1' }).end('ok');
  },
) {
  const upstream = opened(await startUpstream(answer));
  const secret = createTokenSecret();
  const base = testSnapshot({ upstreams: [upstream.url] }, secret);
  const limit = { ...base.routes[0]?.rate_limit, limit: 5, window_seconds: 3600 };
  const routes = base.routes.flatMap((route) => [
    { ...route, cors, methods: ['GET', 'POST'], rate_limit: { ...route.rate_limit, ...limit } },
    { ...route, id: 'rte_plain', name: 'plain' },
  ]);
  const snapshots = [{ ...base, routes }];
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots }));
  const bearer = { authorization: `Bearer ${secret}` };
  const call = async (origin?: string, method = 'GET', fields: Record<string, string> = bearer) =>
    send(gateway, '/v1/proxy/test', {
      method,
      fields: { ...fields, ...(origin === undefined ? {} : { origin }) },
    });
  return { upstream, gateway, call, bearer };
}

const cors = ({ fields }: Answer) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name]) => name === 'vary' || name.startsWith('access-control')),
  );

const EXPOSED =
  'x-request-id, x-gateway-error, x-gateway-latency, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after';

describe('a response of a route with cors', () => {
  it('has the fields of the gateway in place of those of its upstream', async () => {
    const { call, gateway } = await setUp(corsOf({ expose: ['X-Theirs'], credentials: true }));
    const allowed = await call(PAGE);
    expect(allowed).toMatchObject({ status: 200, fields: { 'x-theirs': '1' } });
    expect(cors(allowed)).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': PAGE,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': `${EXPOSED}, X-Theirs`,
    });
    const id = allowed.fields['x-request-id'] ?? '';
    expect(await gateway.recordOf(id)).toMatchObject({ kind: 'request', policies: ['cors'] });
    expect(cors(await call(OTHER_PAGE))).toEqual({ vary: 'Origin' });
    expect(cors(await call('null'))).toEqual({ vary: 'Origin' });
    const without = await call();
    expect(cors(without)).toEqual({ vary: 'Origin' });
    const other = await gateway.recordOf(without.fields['x-request-id'] ?? '');
    expect(other.policies).toBeNull();
  });

  it('is the same for every origin, and for none, if all are allowed', async () => {
    const { call } = await setUp(corsOf({ origins: ['*'], expose: ['*'] }));
    for (const origin of [PAGE, 'null', undefined]) {
      expect(cors(await call(origin))).toEqual({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
      });
    }
  });

  it.each([
    [['Accept-Encoding'], 'Accept-Encoding, Origin'],
    [['Accept', 'Accept-Encoding,Cookie'], 'Accept, Accept-Encoding,Cookie, Origin'],
    [['accept, ORIGIN'], 'accept, ORIGIN'],
    [['*'], '*'],
    [['X-Origin, origin-x'], 'X-Origin, origin-x, Origin'],
    [[''], 'Origin'],
  ])('has Vary %j of its upstream with Origin: %s', async (vary, merged) => {
    const { call } = await setUp(corsOf(), (_seen, response) => {
      response.writeHead(200, { Vary: vary }).end('ok');
    });
    expect((await call(PAGE)).fields['vary']).toBe(merged);
    expect((await call()).fields['vary']).toBe(merged);
  });

  it('can be read by the page if it is a refusal of the gateway', async () => {
    const { call } = await setUp(corsOf());
    const own = {
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': EXPOSED,
      vary: expect.stringMatching(/^(?:Accept, )?Origin$/) as unknown,
    };
    const refusals = [await call(PAGE, 'GET', {}), await call(PAGE, 'DELETE')];
    for (let count = 0; count < 6; count += 1) refusals.push(await call(PAGE));
    const seen = refusals.map((refusal) => ({ status: refusal.status, ...cors(refusal) }));
    expect(seen.map(({ status }) => status)).toEqual([401, 405, 200, 200, 200, 200, 200, 429]);
    for (const one of seen) expect(one).toMatchObject(own);
    // Whoever gets a 401 or a 429 without an allowed origin must not learn that the route exists.
    expect(cors(await call(OTHER_PAGE, 'GET', {}))).toEqual({ vary: 'Accept' });
    expect(cors(await call(undefined, 'GET', {}))).toEqual({ vary: 'Accept' });
    expect(cors(await call(OTHER_PAGE, 'DELETE'))).toEqual({ vary: 'Accept, Origin' });
  });

  it('can be read if the upstream cannot be reached', async () => {
    const { call, upstream } = await setUp(corsOf());
    await upstream.close();
    expect(await call(PAGE)).toMatchObject({
      status: 502,
      fields: { 'access-control-allow-origin': PAGE, vary: 'Accept, Origin' },
    });
  });

  it('has the fields for the present page if it is the stored one of an idempotency key', async () => {
    const { call, bearer, upstream } = await setUp(
      corsOf({ origins: [PAGE, OTHER_PAGE] }),
      (_seen, response) => {
        response.writeHead(201, { ...UPSTREAMS, Vary: 'Accept' }).end('made');
      },
    );
    const keyed = { ...bearer, 'idempotency-key': 'one' };
    const first = await call(PAGE, 'POST', keyed);
    expect(cors(first)).toMatchObject({
      'access-control-allow-origin': PAGE,
      vary: 'Accept, Origin',
    });
    const replay = await call(OTHER_PAGE, 'POST', keyed);
    expect(replay).toMatchObject({
      status: 201,
      body: 'made',
      fields: { 'idempotent-replayed': 'true' },
    });
    expect(cors(replay)).toEqual({
      'access-control-allow-origin': OTHER_PAGE,
      'access-control-expose-headers': EXPOSED,
      vary: 'Accept, Origin',
    });
    expect(cors(await call('https://third.test', 'POST', keyed))).toEqual({
      vary: 'Accept, Origin',
    });
    expect(upstream.seen).toHaveLength(1);
  });
});

it('a response of a route without cors is that of its upstream', async () => {
  const { gateway, bearer } = await setUp(corsOf());
  const fields = { ...bearer, origin: PAGE };
  const answer = await send(gateway, '/v1/proxy/plain', { fields });
  expect(cors(answer)).toEqual({
    'access-control-allow-origin': 'https://else.test',
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'x-theirs',
    'access-control-allow-private-network': 'true',
  });
});
