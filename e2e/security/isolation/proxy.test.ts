import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startTokenIssuer, type TokenIssuer } from '@gateway/shared/test/token-issuer';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../../harness/gateway.ts';
import { openWebSocket } from '../../harness/websocket.ts';
import { startWebSocketUpstream } from '../../harness/websocket.ts';
import { createCallers, ENVIRONMENTS, type Callers } from './callers.ts';
import { Cells } from './cells.ts';
import { CALLERS, PROXY, type CallerKind, type Expectation } from './expectations.ts';

const startTimeoutMs = 60_000;
const dataPlanes = 2;

interface ProxyRequest {
  /** Below /v1/proxy/; with a host the whole path. */
  readonly path: string;
  readonly host?: string;
  /** Instead of `production`, in X-Gateway-Environment. */
  readonly environment?: string;
  /** The token is sent in X-API-Key. */
  readonly apiKey?: true;
  /** X-Gateway-Environment is not sent. */
  readonly unnamed?: true;
  /** The JWT in Authorization: a valid one for the route, one that has expired, or one for another audience. */
  readonly jwt?: keyof typeof JWTS;
  readonly webSocket?: true;
}

/** How each JWT is made: its claims and how long ago it was issued, ms. */
const JWTS = {
  valid: { claims: {}, ageMs: 0 },
  outdated: { claims: {}, ageMs: 3_600_000 },
  foreign: { claims: { aud: 'another-api' }, ageMs: 0 },
} as const;

const HOST = 'isolation.test';

/** The request of each row. */
const REQUESTS: Readonly<Record<string, ProxyRequest>> = {
  'a route by token': { path: 'orders' },
  'a path below a route': { path: 'orders/deep/path?a=1' },
  'a route by API key': { path: 'fresh', apiKey: true },
  'a route by JWT': { path: 'users' },
  'a route by JWT, with one': { path: 'users', apiKey: true, jwt: 'valid' },
  'a route by JWT, outdated': { path: 'users', apiKey: true, jwt: 'outdated' },
  "a route by another's JWT": { path: 'users', apiKey: true, jwt: 'foreign' },
  'a route that is open to all': { path: 'open' },
  'a route that is not there': { path: 'missing' },
  'no environment named': { path: 'orders', unnamed: true },
  'a host and path of a route': { host: HOST, path: '/orders/17' },
  'a host and path of an open': { host: HOST, path: '/open' },
  'a host, no environment': { host: HOST, path: '/orders', unnamed: true },
  'a host, another environment': { host: HOST, path: '/open', environment: 'development' },
  'a host, a path of no route': { host: HOST, path: '/unknown', unnamed: true },
  'a host, a name of no route': { host: HOST, path: '/v1/proxy/missing' },
  'a host, a management path': { host: HOST, path: '/v1/whoami' },
  'WebSocket by token': { path: 'socket', webSocket: true },
  'WebSocket by API key': { path: 'keyed', webSocket: true, apiKey: true },
  'WebSocket by JWT': { path: 'rooms', webSocket: true },
  'WebSocket by JWT, with one': { path: 'rooms', webSocket: true, apiKey: true, jwt: 'valid' },
  'WebSocket by JWT, outdated': { path: 'rooms', webSocket: true, apiKey: true, jwt: 'outdated' },
  "WebSocket by another's JWT": { path: 'rooms', webSocket: true, apiKey: true, jwt: 'foreign' },
  'WebSocket that is open': { path: 'hall', webSocket: true },
  'WebSocket to no route': { path: 'missing', webSocket: true },
};

/** `fetch` cannot send a `Host` of its own. */
function sendToHost(baseUrl: string, target: string, headers: Readonly<Record<string, string>>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return rawCall(Number(new URL(baseUrl).port), { target, lines });
}

describe('the isolation matrix of the proxy path', () => {
  const cells = new Cells('the proxy path');
  let gateway: Gateway;
  let callers: Callers;
  let issuer: TokenIssuer;
  let sockets: Awaited<ReturnType<typeof startWebSocketUpstream>>;

  beforeAll(async () => {
    issuer = await startTokenIssuer();
    sockets = await startWebSocketUpstream();
    const env = { AUTH_FAILURE_LIMIT: '100000' };
    gateway = await startGateway({ dataPlanes, env });
    const on = (prefix: string) => [{ hosts: [HOST], paths: [{ prefix }] }];
    await gateway.route({ name: 'orders', match: on('/orders') });
    await gateway.route({ name: 'fresh', auth: { type: 'api_key' } });
    await gateway.route({ name: 'open', auth: { type: 'none' }, match: on('/open') });
    const { type, issuer: name, audience, jwks_url, algorithms } = issuer.auth();
    const auth = { type, issuer: name, audience, jwks_url, algorithms };
    await gateway.route({ name: 'users', auth });
    const { id: service_id } = await gateway.service({ url: sockets.url });
    await gateway.route({ name: 'socket', service_id });
    await gateway.route({ name: 'keyed', service_id, auth: { type: 'api_key' } });
    await gateway.route({ name: 'rooms', service_id, auth });
    await gateway.route({ name: 'hall', service_id, auth: { type: 'none' } });
    callers = await createCallers(gateway, ENVIRONMENTS.production);
    await gateway.settled();
    // Tokens of another environment arrive with the configuration of that environment.
    await gateway.settled('development');
  }, startTimeoutMs);
  afterAll(async () => {
    cells.print();
    await gateway.close();
    await sockets.close();
    await issuer.close();
  });

  /** The request as an upstream received it. */
  const arrived = (id: string | null) =>
    [...gateway.upstream.seen, ...sockets.seen].filter(
      (seen) => seen.headers['x-request-id'] === id,
    );

  function tokenOfIssuer(kind: keyof typeof JWTS): Promise<string> {
    const { claims, ageMs } = JWTS[kind];
    return issuer.token(claims, { nowMs: Date.now() - ageMs });
  }

  async function send(baseUrl: string, request: ProxyRequest, token: string | null) {
    const { path, host, environment = 'production', apiKey, unnamed, jwt, webSocket } = request;
    const bearer = jwt ? await tokenOfIssuer(jwt) : apiKey ? null : token;
    const headers = {
      ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
      ...(apiKey && token !== null && { 'x-api-key': token }),
      ...(!unnamed && { 'x-gateway-environment': environment }),
      ...(host !== undefined && { host }),
    };
    if (webSocket) return openWebSocket(baseUrl, path, headers);
    if (host !== undefined) return sendToHost(baseUrl, path, headers);
    return gateway.admin.at(baseUrl).proxy(path, { token: null, headers });
  }

  it.each(PROXY)('%s', async (what, expectations) => {
    const request = REQUESTS[what];
    if (request === undefined) throw new Error(`the matrix does not say how to request ${what}`);
    const faults: string[] = [];
    const tries = CALLERS.flatMap((caller) =>
      gateway.dataPlanes.map(async ({ baseUrl, name }) => {
        const expected = expectations.get(caller) ?? 'x';
        try {
          await check(baseUrl, request, caller, expected);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          faults.push(`${what}, a caller ${caller}, at ${name}, expected ${expected}: ${message}`);
        }
      }),
    );
    await Promise.all(tries);
    cells.add(CALLERS.length);
    expect(faults).toEqual([]);
  });

  async function check(
    baseUrl: string,
    request: ProxyRequest,
    caller: CallerKind,
    expected: Expectation,
  ): Promise<void> {
    const answer = await send(baseUrl, request, callers.get(caller) ?? null);
    const id = answer.headers.get('x-request-id');
    if (expected === 'x') await expectRefusal(answer, 401, 'authentication_failed');
    else if (expected === '404') await expectRefusal(answer, 404, 'route_not_found');
    else expect(answer.status).toBe(request.webSocket ? 101 : 200);
    const seen = arrived(id);
    expect(seen).toHaveLength(expected === 'ok' ? 1 : 0);
    // No header that an upstream receives contains the caller's token or JWT.
    expect(JSON.stringify(seen)).not.toMatch(/gwt_|Bearer/);
    if (caller !== 'without a token') return;
    // Every request has a record, visible to callers that cover its environment and route.
    await eventually(async () => {
      expect((await gateway.admin.get(`/v1/requests/${id ?? ''}`)).status).toBe(200);
    });
  }
});
