import { connect } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { storedRouteFields } from '@gateway/shared/definitions/route';
import { parseLocation } from '@gateway/shared/definitions/route-redirect';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import fc from 'fast-check';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { http2Answer } from '../../test/http2-call.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';
import { locationOf } from './fixed-answer.ts';

const opened = closeAfterEach();

const MAINTENANCE = {
  status: 503,
  body: '{"message":"back at 6"}',
  content_type: 'application/json',
};

/** A route without a service that answers so. */
function answering(respond: object, fields: Partial<SnapshotRoute> = {}) {
  const field = storedRouteFields.respond.parse(respond);
  return { upstreams: ['http://127.0.0.1:9'], versions: [], respond: field, ...fields };
}

const PUBLIC = { auth: { type: 'none' } } as const;

async function start(
  respond: object,
  fields: Partial<SnapshotRoute> = {},
  options?: TestDataPathOptions,
) {
  return opened(await startTestDataPath(answering(respond, fields), options));
}

describe('a route that answers itself', () => {
  it('gives its status, body and content type with the promised headers and no error', async () => {
    const gateway = await start(MAINTENANCE);
    const response = await gateway.call('test/orders/1?a=b', { method: 'POST', body: 'x' });
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(MAINTENANCE.body);
    const fields = Object.fromEntries(response.headers);
    expect(fields).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(MAINTENANCE.body.length),
      'x-request-id': expect.stringMatching(/^req_/),
      'x-gateway-latency': expect.any(String),
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '999',
      'x-ratelimit-reset': expect.any(String),
    });
    expect(fields).not.toHaveProperty('x-gateway-error');
  });

  it('has a record of a success, whatever its status, without a service or an attempt', async () => {
    const gateway = await start(MAINTENANCE);
    const record = await gateway.recordOf(await gateway.call('test'));
    expect(record).toMatchObject({
      status: 503,
      outcome: 'success',
      error_code: null,
      service_id: null,
      route_version: null,
      upstream: null,
      attempts: [],
      policies: ['respond'],
      response_bytes: MAINTENANCE.body.length,
    });
    const metrics = await gateway.registry.getSingleMetricAsString('gateway_requests_total');
    expect(metrics).toContain(
      'environment="production",route="test",service="",version="",status="503",outcome="success"',
    );
  });

  it('comes after authentication, methods and the quota, whose refusals it does not replace', async () => {
    const gateway = await start(MAINTENANCE, {
      methods: ['GET', 'OPTIONS'],
      rate_limit: { ...testLimit, limit: 2 },
    });
    expect((await fetch(`${gateway.url}/v1/proxy/test`)).status).toBe(401);
    expect((await gateway.call('test', { method: 'POST' })).status).toBe(405);
    const options = { method: 'OPTIONS', headers: { 'Max-Forwards': '0' } };
    expect((await gateway.call('test', options)).status).toBe(503);
    expect((await gateway.call('test')).status).toBe(503);
    const refused = await gateway.call('test');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-gateway-error')).toBe('rate_limit_exceeded');
  });

  it('rewrites nothing and refuses no request for what it would rewrite', async () => {
    const path = '/{jwt.claims.tenant}';
    const gateway = await start(MAINTENANCE, { rewrite: rewriteField.parse({ path }) });
    const response = await gateway.call('test');
    expect(response.status).toBe(503);
    expect((await gateway.recordOf(response)).policies).toEqual(['respond']);
  });

  it('claims no idempotency key, although the route requires one', async () => {
    const gateway = await start({ body: 'hello' }, { idempotency: REQUIRED_KEYS });
    const post = { method: 'POST', headers: { 'Idempotency-Key': 'one' }, body: 'a' };
    for (const body of ['a', 'b']) {
      const response = await gateway.call('test', { ...post, body });
      expect([response.status, await response.text()]).toEqual([200, 'hello']);
    }
    expect((await gateway.call('test', { method: 'POST' })).status).toBe(200);
  });

  it.each([204, 205, 304])('has no body and no content type with %d', async (status) => {
    const gateway = await start({ status }, PUBLIC);
    const response = await fetch(`${gateway.url}/v1/proxy/test`);
    expect([response.status, await response.text()]).toEqual([status, '']);
    expect(response.headers.get('content-type')).toBeNull();
    expect(response.headers.get('content-length')).toBe(status === 205 ? '0' : null);
  });

  it('answers HEAD without the body, but with its length, and the next request of the connection', async () => {
    const gateway = await start({ body: 'größer' }, PUBLIC);
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test'];
    const head = requestText({ method: 'HEAD', target: '/v1/proxy/test', lines });
    const get = requestText({ method: 'GET', target: '/v1/proxy/test', lines });
    connection.send(head + get);
    await eventually(() => expect(connection.receivedText).toMatch(/gr.*er$/));
    const [, first = '', second = ''] = connection.receivedText.split('HTTP/1.1 200 OK\r\n');
    expect(first).toMatch(/Content-Length: 8\r\n/);
    expect(first).toMatch(/\r\n\r\n$/);
    expect(Buffer.from(second.split('\r\n\r\n')[1] ?? '', 'latin1').toString()).toBe('größer');
    await eventually(() => expect(gateway.records).toHaveLength(2));
    expect(gateway.records.map((record) => record.response_bytes)).toEqual([0, 8]);
  });

  it('holds no slot of a service and needs none', async () => {
    const gateway = await start(MAINTENANCE, {}, { environment: { MAX_IN_FLIGHT: '1' } });
    const all = await Promise.all(Array.from({ length: 20 }, () => gateway.call('test')));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([503]));
  });

  it('can be read by the pages that cors allows, and by no other', async () => {
    const cors = storedRouteFields.cors.parse({ origins: ['https://page.test'] });
    const gateway = await start(MAINTENANCE, { ...PUBLIC, cors });
    const allowed = async (origin: string) => {
      const response = await fetch(`${gateway.url}/v1/proxy/test`, { headers: { origin } });
      return [response.status, response.headers.get('access-control-allow-origin')];
    };
    expect(await allowed('https://page.test')).toEqual([503, 'https://page.test']);
    expect(await allowed('https://other.test')).toEqual([503, null]);
  });

  it('refuses X-Gateway-Version, because it has no versions', async () => {
    const gateway = await start(MAINTENANCE);
    const response = await gateway.call('test', { headers: { 'X-Gateway-Version': 'v1' } });
    expect(response.status).toBe(400);
  });

  it('answers a caller whose credential authenticates a connection: nothing is sent on', async () => {
    const gateway = await start(MAINTENANCE, PUBLIC);
    const headers = { authorization: 'Negotiate abc' };
    expect((await fetch(`${gateway.url}/v1/proxy/test`, { headers })).status).toBe(503);
  });

  it('answers a WebSocket upgrade as plain HTTP and ends its connection', async () => {
    const gateway = await start({ body: 'no socket' }, PUBLIC);
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      ...['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    ];
    connection.send(requestText({ target: '/v1/proxy/test', lines }));
    await eventually(() => expect(connection.receivedText).toContain('no socket'));
    expect(connection.receivedText).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(connection.receivedText).toContain('Connection: close');
  });

  it.each([
    [200, 400],
    [503, 503],
  ])('does not open a WebSocket over HTTP/2 with %d', async (status, answered) => {
    const gateway = opened(await startSecureDataPath(answering({ status }, PUBLIC)));
    const session = connect(gateway.url, { ca: gateway.authority.certPem });
    opened({ destroy: () => session.destroy() });
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const stream = session.request(
      {
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':path': '/v1/proxy/test',
        'sec-websocket-version': '13',
      },
      { endStream: false },
    );
    stream.on('response', () => stream.end());
    expect((await http2Answer(stream)).status).toBe(answered);
  });
});

describe('a route that cannot be used', () => {
  it.each([
    ['has no target', { versions: [], respond: null }],
    ['has two targets', { respond: storedRouteFields.respond.parse({}) }],
    [
      'has an answer without a final status',
      { ...answering({}), respond: respondWith({ status: 101 }) },
    ],
    [
      'has a content type with a line break',
      { ...answering({}), respond: respondWith({ content_type: 'a/b\r\nX: y' }) },
    ],
  ])('%s: it is refused', async (_name, route) => {
    const gateway = opened(
      await startTestDataPath({ upstreams: ['http://127.0.0.1:9'], ...route }),
    );
    const response = await gateway.call('test');
    expect([response.status, response.headers.get('x-gateway-error')]).toEqual([
      503,
      'route_unusable',
    ]);
  });
});

const testLimit = storedRouteFields.rate_limit.parse({});
const REQUIRED_KEYS = storedRouteFields.idempotency.parse({ required: true });

/** As a later release may write it. */
function respondWith(fields: object) {
  return { ...storedRouteFields.respond.parse({}), ...fields } as SnapshotRoute['respond'];
}

describe('a redirect', () => {
  const OLD = { match: [{ hosts: ['old.test'], paths: [{ prefix: '/v1api' }], headers: [] }] };

  it.each([
    [
      'https://new.test/{path.rest}',
      '/v1api/a%2Fb/%C3%BC?x=1&y',
      'https://new.test/a%2Fb/%C3%BC?x=1&y',
    ],
    ['https://new.test/{path.rest}', '/v1api', 'https://new.test/'],
    ['https://new.test/b?', '/v1api?x=1', 'https://new.test/b'],
    ['https://new.test/b?p={path.rest}', '/v1api/a&b/c?x=1', 'https://new.test/b?p=a%26b/c'],
    ['https://new.test/b?p=1#top', '/v1api?x=1', 'https://new.test/b?p=1#top'],
    ['https://new.test/#/{path.rest}', '/v1api/c?x', 'https://new.test/?x#/c'],
    ['/{path.rest}', '/v1api//evil.test/a', '/evil.test/a'],
    ['/{path.rest}', '/v1api////evil.test', '/evil.test'],
    ['/{route.name}/{client.ip}', '/v1api', '/test/127.0.0.1'],
  ])('to %s leads %s to %s', async (location, target, expected) => {
    const gateway = await redirecting({ status: 308, location }, { ...PUBLIC, ...OLD });
    const connection = opened(await rawConnection(gateway.port));
    connection.send(requestText({ method: 'GET', target, lines: ['Host: old.test'] }));
    await eventually(() => expect(connection.receivedText).toContain('\r\n\r\n'));
    const text = connection.receivedText;
    expect(text).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/);
    expect(/\r\nLocation: (.*)\r\n/.exec(text)?.[1]).toBe(expected);
    expect(text).toMatch(/Content-Length: 0\r\n/);
    expect(text).not.toContain('X-Gateway-Error');
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ outcome: 'success', policies: ['redirect'] });
  });

  it.each([
    ['https://new.test/public/.{path.rest}', 'test/./private'],
    ['https://new.test/public/{path.rest}.', 'test/a/.'],
  ])('to %s does not lead out of its path', async (location, path) => {
    const gateway = await redirecting({ status: 302, location });
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: old.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ method: 'GET', target: `/v1/proxy/${path}`, lines }));
    const { status, rawHeaders } = await connection.response();
    expect([status, rawHeaders.includes('Location')]).toEqual([400, false]);
  });

  it('by its name leads on from what follows the name', async () => {
    const gateway = await redirecting({ status: 302, location: 'https://new.test/{path.rest}' });
    const response = await gateway.call('test//evil.test/?a', { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([
      302,
      'https://new.test//evil.test/?a',
    ]);
  });

  it('never leads to a host that the request chooses, nor has a control character', () => {
    const source = { id: 'req_1', route: undefined, token: undefined, jwt: undefined } as const;
    const piece = fc.constantFrom(
      '/',
      '\\',
      '%2f',
      '@',
      ':',
      '.',
      'evil.test',
      '\r\n',
      '\t',
      '\0',
      '?',
      '#',
    );
    const parts = fc.array(piece, { maxLength: 6 }).map((all) => all.join(''));
    const locations = [
      '/{path.rest}',
      '/a{path.rest}',
      'https://new.test/{path.rest}?q={path.rest}',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...locations), parts, parts, (location, rest, query) => {
        const target = {
          routeName: 'r',
          subPath: `/${rest}`,
          path: '',
          query: `?${query}`,
          way: undefined,
          hostEnvironment: undefined,
        };
        const text = locationOf(parseLocation(location), { ...source, clientIp: '::1', target });
        const { host } = new URL(text ?? '', 'https://own.test');
        expect(host).toBe(location.startsWith('/') ? 'own.test' : 'new.test');
        expect(text).toMatch(/^[!-~]*$/);
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused for a status that is none, and for a location that is none', async () => {
    for (const redirect of [
      { status: 300, location: '/' },
      { status: 302, location: 'https://new.test{path.rest}' },
      { status: 302, location: '/{future.variable}' },
      { status: 302, location: '/public/%2E./{path.rest}' },
    ]) {
      const gateway = await redirecting(redirect);
      expect((await gateway.call('test')).headers.get('x-gateway-error')).toBe('route_unusable');
    }
  });
});

async function redirecting(
  redirect: NonNullable<SnapshotRoute['redirect']>,
  fields: Partial<SnapshotRoute> = {},
) {
  const route = { upstreams: ['http://127.0.0.1:9'], versions: [], redirect, ...fields };
  return opened(await startTestDataPath(route));
}
