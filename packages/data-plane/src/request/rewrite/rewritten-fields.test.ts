import { request as httpRequest } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startRawUpstream, startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import type { z } from 'zod';
import { arrived, credentialStarter } from '../../../test/credential-world.ts';
import { startTestDataPath } from '../../../test/data-path.ts';
import { http2Call } from '../../../test/http2-call.ts';
import { startJwtRoute } from '../../../test/jwt-route.ts';
import { startSecureDataPath } from '../../../test/secure-data-path.ts';

const opened = closeAfterEach();
const startWithCredential = credentialStarter();

function valuesOf(pairs: readonly string[], name: string): string[] {
  return pairs.filter((_text, at) => at % 2 === 1 && pairs[at - 1]?.toLowerCase() === name);
}

async function setUp(
  rewrite: z.input<typeof rewriteField>,
  route: Partial<SnapshotRoute> = {},
  answer?: Parameters<typeof startUpstream>[0],
) {
  const upstream = opened(await startUpstream(answer));
  const fields = { rewrite: rewriteField.parse(rewrite), ...route };
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], ...fields }));
  async function call(lines: readonly string[] = [], target = '/v1/proxy/test') {
    const connection = opened(await rawConnection(gateway.port));
    const authorization = `Authorization: Bearer ${gateway.token}`;
    connection.send(requestText({ target, lines: ['Host: api.test:81', authorization, ...lines] }));
    return connection.response();
  }
  const last = (): SeenRequest => {
    const seen = upstream.seen.at(-1);
    if (seen === undefined) throw new Error('nothing arrived');
    return seen;
  };
  return {
    upstream,
    gateway,
    call,
    sent: (name: string) => valuesOf(last().rawHeaders, name),
    last,
  };
}

describe('the fields of a request', () => {
  it('are set, added and removed, whatever the caller sends', async () => {
    const { call, sent } = await setUp({
      request_headers: {
        set: [{ name: 'X-User', value: 'gateway of {route.name}' }],
        add: [
          { name: 'X-More', value: '{token.id}' },
          { name: 'X-More', value: '{client.ip}' },
        ],
        remove: ['X-Debug', 'X-Real-IP'],
      },
    });
    await call(['X-User: a', 'x_user: b', 'X-USER: c', 'X_DEBUG: 1', 'x-debug: 2', 'X-More: 0']);
    expect(sent('x-user')).toEqual(['gateway of test']);
    expect(sent('x_user')).toEqual([]);
    expect(sent('x-more')).toEqual(['0', 'tok_test', '127.0.0.1']);
    expect([...sent('x-debug'), ...sent('x_debug')]).toEqual([]);
  });

  it('have the id of the request, and an address that no caller can choose', async () => {
    const { call, sent, gateway } = await setUp({
      request_headers: {
        set: [
          { name: 'X-Real-IP', value: '{client.ip}' },
          { name: 'X-Id', value: '<{request.id}>' },
        ],
      },
    });
    const { headers } = await call(['X-Real-IP: 192.0.2.7', 'X-Forwarded-For: 192.0.2.8']);
    expect(sent('x-real-ip')).toEqual(['127.0.0.1']);
    expect(sent('x-id')).toEqual([`<${headers.get('x-request-id')}>`]);
    expect(await gateway.recordOf(headers.get('x-request-id') ?? '')).toMatchObject({
      policies: ['rewrite'],
    });
  });

  it('are left out if their value is not known, also as the caller sent them', async () => {
    const { call, sent, last } = await setUp(
      {
        request_headers: {
          set: [{ name: 'X-Token', value: '{token.id}' }],
          add: [{ name: 'X-Also', value: 'a {token.id}' }],
        },
        query: { set: [{ name: 'token', value: '{token.id}' }] },
      },
      { auth: { type: 'none' } },
    );
    await call(['X-Token: tok_1', 'X_Also: tok_1'], '/v1/proxy/test?token=tok_1&x=1&%74oken=2');
    expect([...sent('x-token'), ...sent('x-also'), ...sent('x_also')]).toEqual([]);
    expect(last().url).toBe('/?x=1');
  });

  it('never get a line break by a claim', async () => {
    const rewrite = rewriteField.parse({
      request_headers: { set: [{ name: 'X-Tenant', value: '{jwt.claims.tenant}' }] },
    });
    const auth = { required_claims: [{ name: 'tenant', values: null }] };
    const { callWith, upstream, call, issuer } = await startJwtRoute(opened, auth, { rewrite });
    await callWith({ tenant: 'a\r\nX-Admin: 1' });
    await callWith({ tenant: 'é, b' });
    await call(await issuer.token({ tenant: ['x'] }), { 'x-tenant': 'other', x_tenant: 'other' });
    expect(upstream.seen.map(({ headers }) => headers['x-tenant'])).toEqual([
      undefined,
      '%C3%A9%2C%20b',
      undefined,
    ]);
    for (const { headers } of upstream.seen) {
      expect(headers['x-admin'] ?? headers['x_tenant']).toBeUndefined();
    }
  });

  it('do not take the place of the credential of the service', async () => {
    const rewrite = rewriteField.parse({
      request_headers: {
        set: [{ name: 'X-Service-Key', value: 'mine' }],
        add: [{ name: 'x_service_key', value: 'mine' }],
      },
    });
    const credential = { header: 'x-service-key', value: 'upstreams-own' };
    const { upstream, call } = await startWithCredential(credential, { route: { rewrite } });
    expect((await call()).status).toBe(200);
    expect(arrived(upstream.seen[0], 'x-service-key')).toEqual(['upstreams-own']);
  });

  it('are the same in each attempt', async () => {
    let failures = 1;
    const { call, upstream } = await setUp(
      {
        path: '/{request.id}',
        host: 'other.test:82',
        request_headers: { add: [{ name: 'X-Id', value: '{request.id}' }] },
      },
      {},
      (_seen, response) => void response.writeHead(failures-- > 0 ? 503 : 200).end(),
    );
    const { headers } = await call();
    const seen = upstream.seen.map((one) => [one.url, one.headers.host, one.headers['x-id']]);
    const id = headers.get('x-request-id');
    expect(seen).toEqual([
      [`/${id}`, 'other.test:82', id],
      [`/${id}`, 'other.test:82', id],
    ]);
  });
});

describe('the host', () => {
  it('is that of the URL of the upstream, of the caller, or the one of the route', async () => {
    const usual = await setUp({ add_prefix: '/v1' });
    await usual.call();
    expect(usual.sent('host')).toEqual([`127.0.0.1:${usual.upstream.port}`]);
    const preserved = await setUp({ host: 'preserve' });
    await preserved.call();
    expect(preserved.sent('host')).toEqual(['api.test:81']);
    await preserved.call([], 'http://absolute.test/v1/proxy/test');
    expect(preserved.sent('host')).toEqual(['absolute.test']);
    const given = await setUp({ host: 'inner.test' });
    await given.call();
    expect(given.sent('host')).toEqual(['inner.test']);
  });

  it('is the authority of a request over HTTP/2', async () => {
    const upstream = opened(await startUpstream());
    const rewrite = rewriteField.parse({ host: 'preserve' });
    const route = { upstreams: [upstream.url], rewrite, auth: { type: 'none' as const } };
    const gateway = opened(await startSecureDataPath(route));
    const session = gateway.connectHttp2();
    const authority = `127.0.0.1:${gateway.port}`;
    expect((await http2Call(session, { ':authority': authority })).status).toBe(200);
    session.close();
    expect(upstream.seen.map(({ headers }) => headers.host)).toEqual([authority]);
  });

  it('is never one that is none', async () => {
    const { gateway, upstream } = await setUp({ host: 'preserve' });
    const connection = opened(await rawConnection(gateway.port));
    connection.send(
      requestText({ lines: ['Host: a@b', `Authorization: Bearer ${gateway.token}`] }),
    );
    expect((await connection.response()).status).toBe(400);
    expect(upstream.seen).toHaveLength(0);
  });
});

const RESPONSE = {
  response_headers: {
    set: [{ name: 'Cache-Control', value: 'no-store' }],
    add: [
      { name: 'X-Served-By', value: '{route.name}' },
      { name: 'Set-Cookie', value: 'c=3' },
    ],
    remove: ['Server', 'X-Powered-By'],
  },
};

const answer = (
  _seen: SeenRequest,
  response: Parameters<NonNullable<Parameters<typeof startUpstream>[0]>>[1],
) => {
  const fields = ['Cache-Control', 'public', 'cache-control', 'max-age=1', 'server', 'x'];
  const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Served-By', 'inner'];
  response.writeHead(201, [...fields, ...cookies, 'X-Powered-By', 'y']).end('made');
};

describe('the fields of a response', () => {
  const rewritten = {
    'cache-control': ['no-store'],
    'x-served-by': ['inner', 'test'],
    'set-cookie': ['a=1', 'b=2', 'c=3'],
    server: [],
    'x-powered-by': [],
  };

  /** The values of the fields that are rewritten, line by line. */
  function received(
    { port, token }: { readonly port: number; readonly token: string },
    fields: Readonly<Record<string, string>> = {},
    method = 'GET',
  ): Promise<readonly [status: number, values: object, raw: readonly string[]]> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...fields };
      const options = { port, host: '127.0.0.1', path: '/v1/proxy/test', method, headers };
      httpRequest(options, (response) => {
        const { rawHeaders, statusCode = 0 } = response;
        const values = Object.keys(rewritten).map((name) => [name, valuesOf(rawHeaders, name)]);
        response.resume().on('end', () => {
          resolve([statusCode, Object.fromEntries(values), rawHeaders]);
        });
      })
        .on('error', reject)
        .end();
    });
  }

  it('are set, added and removed', async () => {
    const { gateway } = await setUp(RESPONSE, {}, answer);
    expect((await received(gateway)).slice(0, 2)).toEqual([201, rewritten]);
  });

  it('are rewritten once in a stored response too', async () => {
    const { gateway, upstream } = await setUp(RESPONSE, {}, answer);
    const key = { 'idempotency-key': 'k1' };
    expect((await received(gateway, key, 'POST')).slice(0, 2)).toEqual([201, rewritten]);
    const [status, values, raw] = await received(gateway, key, 'POST');
    expect([status, values]).toEqual([201, rewritten]);
    expect(valuesOf(raw, 'idempotent-replayed')).toEqual(['true']);
    expect(upstream.seen).toHaveLength(1);
  });

  it('are not those of errors of the gateway', async () => {
    const { gateway } = await setUp(RESPONSE, { methods: ['POST'] }, answer);
    const [status, values, raw] = await received(gateway);
    expect(status).toBe(405);
    expect(values).toMatchObject({ 'x-served-by': [], 'set-cookie': [] });
    expect(valuesOf(raw, 'x-gateway-error')).toEqual(['method_not_allowed']);
  });

  it('are not in an early response if the response does not have them', async () => {
    const hints = { early_hints: true };
    const { gateway } = await setUp(RESPONSE, hints, (_seen, response) => {
      response.writeEarlyHints({
        link: '</a>; rel=preload',
        'x-powered-by': 'y',
        'cache-control': 'z',
      });
      response.end();
    });
    const connection = opened(await rawConnection(gateway.port));
    connection.send(requestText({ lines: ['Host: a', `Authorization: Bearer ${gateway.token}`] }));
    await eventually(() => expect(connection.receivedText).toContain('HTTP/1.1 200'));
    const [interim = ''] = connection.receivedText.split('\r\n\r\n');
    expect(interim.toLowerCase()).toBe('http/1.1 103 early hints\r\nlink: </a>; rel=preload');
  });
});

it('a key stands for the request of the caller, whatever is rewritten', async () => {
  const { gateway, upstream } = await setUp({ path: '/same' });
  const post = (path: string) =>
    gateway.call(path, { method: 'POST', headers: { 'idempotency-key': 'k1' } });
  expect((await post('test/a')).status).toBe(200);
  expect((await post('test/b')).status).toBe(409);
  expect((await post('test/a')).headers.get('idempotent-replayed')).toBe('true');
  expect(upstream.seen.map(({ url }) => url)).toEqual(['/same']);
});

it('a WebSocket is opened as every other request is sent', async () => {
  let head = '';
  const upstream = opened(
    await startRawUpstream((socket) => {
      socket.once('data', (bytes) => {
        head = bytes.toString('latin1');
        const fields = 'Connection: Upgrade\r\nUpgrade: websocket\r\nServer: x\r\n\r\n';
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}`);
      });
    }),
  );
  const rewrite = rewriteField.parse({
    strip_prefix: '/api',
    add_prefix: '/v2',
    host: 'preserve',
    query: { remove: ['debug'] },
    request_headers: { set: [{ name: 'X-Route', value: '{route.name}' }] },
    response_headers: { remove: ['Server'] },
  });
  const match = [{ hosts: [], paths: [{ prefix: '/api' }], headers: [] }];
  const auth = { type: 'none' as const };
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url], rewrite, match, auth }),
  );
  const connection = opened(await rawConnection(gateway.port));
  const lines = ['Host: api.test', 'Connection: Upgrade', 'Upgrade: websocket'];
  connection.send(
    requestText({
      target: '/api/socket?debug=1&x=%2f',
      lines: [...lines, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
    }),
  );
  await eventually(() => expect(connection.receivedText).toContain('\r\n\r\n'));
  expect(connection.receivedText).toMatch(/^HTTP\/1\.1 101 /);
  expect(connection.receivedText).not.toMatch(/^server:/im);
  expect(head.split('\r\n').slice(0, 2)).toEqual([
    'GET /v2/socket?x=%2f HTTP/1.1',
    'host: api.test',
  ]);
  expect(head).toMatch(/^X-Route: test\r$/m);
});
