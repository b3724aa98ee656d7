import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream } from '@gateway/shared/test/upstream';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();

type Ways = SnapshotRoute['match'];
const onHost = (...hosts: string[]): Ways => [{ hosts, paths: [], headers: [] }];
const below = (prefix: string): Ways => [{ hosts: [], paths: [{ prefix }], headers: [] }];

/** `production` has routes by host, and one by path; `staging` has one by host, and one by path. */
async function setUp(environment: Readonly<Record<string, string>> = {}) {
  const upstream = opened(await startUpstream());
  const token = createTokenSecret();
  const stagingToken = createTokenSecret();
  const production = testSnapshot({ upstreams: [upstream.url] }, token);
  const [base] = production.routes;
  if (base === undefined) throw new Error('no route');
  const route = (name: string, match: Ways, fields: Partial<SnapshotRoute> = {}) => {
    return { ...base, id: `rte_${name}`, name, match, ...fields };
  };
  const none = { type: 'none' as const };
  const staging = testSnapshot({ upstreams: [upstream.url] }, stagingToken);
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [] },
      {
        environment,
        snapshots: [
          {
            ...production,
            routes: [
              route('hosted', onHost('api.example.com')),
              route('wild', onHost('*.example.com'), { auth: none }),
              route('versioned', [
                {
                  hosts: ['api.example.com'],
                  paths: [{ prefix: '/pay' }],
                  headers: [{ name: 'X-Version', value: '2' }],
                },
              ]),
              route('paths', below('/orders')),
              route('posts', [{ hosts: ['only.test'], paths: [{ exact: '/one' }], headers: [] }], {
                methods: ['POST'],
              }),
            ],
          },
          {
            ...staging,
            environment: 'staging',
            routes: [route('hosted', onHost('staging.test')), route('paths', below('/refunds'))],
          },
        ],
      },
    ),
  );
  let recorded: string | null = null;
  /** The status and the error code of the response, and the route and environment of the record. */
  async function call(
    host: string,
    target: string,
    { lines = [], secret = token, method = 'GET' }: CallOptions = {},
  ) {
    const connection = opened(await rawConnection(gateway.port));
    const authorization = secret === '' ? [] : [`Authorization: Bearer ${secret}`];
    connection.send(
      requestText({ method, target, lines: [`Host: ${host}`, ...authorization, ...lines] }),
    );
    const { status, headers } = await connection.response();
    const id = headers.get('x-request-id') ?? '';
    const record = await gateway.recordOf(id);
    const { route: name, environment: of } = record;
    recorded = record.match;
    return [status, headers.get('x-gateway-error') ?? '', name, of];
  }
  /** The way that the record of the last call names. */
  const way = () => recorded;
  return { upstream, gateway, call, way, stagingToken };
}

interface CallOptions {
  readonly lines?: readonly string[];
  /** Empty: none. */
  readonly secret?: string;
  readonly method?: string;
}

const ok = (route: string, environment = 'production') => [200, '', route, environment];

it('is not said to be missing while the configuration of an environment is', async () => {
  const route = { upstreams: [], match: below('/orders') };
  const gateway = opened(await startTestDataPath(route, { complete: false }));
  const statuses = ['/orders', '/', '/v1/proxy/none', '/v1/routes'].map(async (path) => {
    const { status, headers } = await fetch(`${gateway.url}${path}`);
    return [status, headers.get('x-gateway-error')];
  });
  const notReady = [503, 'gateway_not_ready'];
  expect(await Promise.all(statuses)).toEqual([
    notReady,
    notReady,
    [401, 'authentication_failed'],
    // Passed on to the control plane, and this data plane has no address of one.
    [404, 'not_found'],
  ]);
});

describe('a route by host, path and header fields', () => {
  it('does not get OPTIONS *, which has no path', async () => {
    const { upstream, call } = await setUp();
    const answer = await call('eu.example.com', '*', { method: 'OPTIONS' });
    expect(answer).toEqual([404, 'route_not_found', null, 'production']);
    expect(upstream.seen).toEqual([]);
  });

  it('gets the requests that it matches, with their whole path as it was sent', async () => {
    const { upstream, call } = await setUp();
    expect(await call('api.example.com', '/a%2Fb/./c?q=1')).toEqual(ok('hosted'));
    expect(upstream.seen.at(-1)?.url).toBe('/a%2Fb/./c?q=1');
    expect(await call('API.Example.com.:8080', '/')).toEqual(ok('hosted'));
    expect(await call('other.example.com', '/x', { secret: '' })).toEqual(ok('wild'));
    const two = { lines: ['X-Version: 2'] };
    expect(await call('api.example.com', '/pay/1', two)).toEqual(ok('versioned'));
    expect(await call('api.example.com', '//%70ay', two)).toEqual(ok('versioned'));
    expect(await call('api.example.com', '/payments', two)).toEqual(ok('hosted'));
    const twice = { lines: ['X-Version: 2', 'X-Version: 3'] };
    expect(await call('api.example.com', '/pay', twice)).toEqual(ok('hosted'));
    expect(await call('any.host', '/orders/7')).toEqual(ok('paths'));
    expect(await call('any.host', 'http://api.example.com/z')).toEqual(ok('hosted'));
  });

  it('has records that name the way', async () => {
    const { call, way } = await setUp();
    const two = { lines: ['X-Version: 2'] };
    const ways: (string | null)[] = [];
    for (const [host = '', path = ''] of [
      ['api.example.com', '/a'],
      ['eu.example.com', '/a'],
      ['api.example.com', '//%70ay/1'],
      ['any.host', '/orders/7'],
      ['only.test', '/./one'],
      ['only.test', '/v1/proxy/hosted'],
    ]) {
      await call(host, path, { ...two, method: 'POST' });
      ways.push(way());
    }
    expect(ways).toEqual([
      'api.example.com/*',
      '*.example.com/*',
      'api.example.com/pay/*',
      '/orders/*',
      'only.test/one',
      null,
    ]);
  });

  it('can be called by its name too, on every host', async () => {
    const { upstream, call } = await setUp();
    for (const host of ['any.host', 'api.example.com', 'only.test']) {
      expect(await call(host, '/v1/proxy/hosted/p')).toEqual(ok('hosted'));
      expect(upstream.seen.at(-1)?.url).toBe('/p');
    }
  });

  it('is looked for in the environment of the host, which the token and the header must mean', async () => {
    const { call, stagingToken } = await setUp();
    expect(await call('staging.test', '/', { secret: stagingToken })).toEqual(
      ok('hosted', 'staging'),
    );
    const refused = [401, 'authentication_failed', 'hosted'];
    expect(await call('staging.test', '/')).toEqual([...refused, 'staging']);
    const header = { lines: ['X-Gateway-Environment: staging'] };
    expect(await call('api.example.com', '/', header)).toEqual([...refused, 'production']);
    expect(await call('a.example.com', '/', { ...header, secret: '' })).toEqual([
      401,
      'authentication_failed',
      'wild',
      'production',
    ]);
    // By its name too.
    expect(await call('staging.test', '/v1/proxy/hosted')).toEqual([...refused, 'staging']);
  });

  it('without a host is that of the environment which the caller means', async () => {
    const { call, stagingToken } = await setUp({ DEFAULT_ENVIRONMENT: 'staging' });
    const caller = { secret: stagingToken };
    expect(await call('any.host', '/refunds', caller)).toEqual(ok('paths', 'staging'));
    expect(await call('any.host', '/refunds', { secret: '' })).toEqual([
      401,
      'authentication_failed',
      'paths',
      'staging',
    ]);
    const header = { lines: ['X-Gateway-Environment: production'] };
    expect(await call('any.host', '/orders', header)).toEqual(ok('paths'));
  });

  it('answers 405 to a method that it does not take, and 404 to what no route of the host takes', async () => {
    const { call } = await setUp({ AUTH_FAILURE_LIMIT: '2' });
    expect(await call('only.test', '/one', { method: 'POST' })).toEqual(ok('posts'));
    expect(await call('only.test', '/one')).toEqual([
      405,
      'method_not_allowed',
      'posts',
      'production',
    ]);
    const missing = [404, 'route_not_found', null, 'production'];
    for (let call_ = 0; call_ < 3; call_ += 1) {
      expect(await call('only.test', '/two')).toEqual(missing);
    }
    // Whoever shows no valid token may ask as often as it may fail.
    const anonymous = { secret: '' };
    expect(await call('only.test', '/two', anonymous)).toEqual(missing);
    expect(await call('only.test', '/console', anonymous)).toEqual(missing);
    expect(await call('only.test', '/two', anonymous)).toEqual([
      429,
      'rate_limit_exceeded',
      null,
      'production',
    ]);
  });

  it('gets no request whose path could leave it', async () => {
    const { upstream, call } = await setUp();
    for (const target of ['/a/../b', '/orders/%2e%2e/x', '/a/..%2Fb']) {
      const [status, code] = await call('api.example.com', target);
      expect([status, code]).toEqual([400, 'invalid_request']);
    }
    expect(upstream.seen).toEqual([]);
  });
});
