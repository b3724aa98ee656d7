import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startUpstream } from '@gateway/shared/test/upstream';
import fc from 'fast-check';
import { affinityOf } from '../../test/affinity.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { vault, environment } from '../../test/credential-world.ts';
import {
  copies,
  eventuallyCopies,
  mirroredSnapshot,
  startMirrored,
  type MirroredOptions,
} from '../../test/mirror-world.ts';
import { BODIES } from '../../test/request-bodies.ts';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { isSampled } from './mirrors.ts';

const opened = closeAfterEach();
/** How often a request may pass the gateway. */
const MAX_PASSES = 8;

async function setUp(options: MirroredOptions = {}) {
  const upstream = opened(await startUpstream());
  const mirror = opened(await startUpstream((_seen, response) => response.end('of the mirror')));
  const gateway = opened(await startMirrored(upstream.url, [mirror.url], options));
  const arrived = (count: number) => eventually(() => expect(mirror.seen).toHaveLength(count));
  return { upstream, mirror, gateway, arrived };
}

const OPEN = { auth: { type: 'none' } } as const;

describe('the copy of a request', () => {
  it('is the same request with an id and a span of its own, and names the original', async () => {
    const { upstream, mirror, gateway, arrived } = await setUp();
    const trace = 'a'.repeat(32);
    const response = await gateway.call('test/orders?page=2', {
      method: 'POST',
      body: 'hello',
      headers: {
        'x-custom': 'one',
        'x-gateway-mirror': 'forged',
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      },
    });
    expect(await response.text()).toBe('ok');
    await arrived(1);
    const [original] = upstream.seen;
    const [copy] = mirror.seen;
    expect(copy).toMatchObject({ method: 'POST', url: '/orders?page=2', body: 'hello' });
    expect(copy?.headers).toMatchObject({
      'x-custom': 'one',
      'x-forwarded-for': '127.0.0.1',
      'cdn-loop': 'gateway',
      'content-length': '5',
      'x-gateway-mirror': response.headers.get('x-request-id'),
      'x-request-id': expect.stringMatching(/^req_/),
      traceparent: expect.stringMatching(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`)),
    });
    expect(copy?.headers['x-request-id']).not.toBe(response.headers.get('x-request-id'));
    expect(copy?.headers['traceparent']).not.toBe(original?.headers['traceparent']);
    expect(original?.headers['x-gateway-mirror']).toBeUndefined();
  });

  const SECRETS = {
    authorization: 'Basic b2Y6Y2FsbGVy',
    'x-api-key': 'of the caller',
    cookie: 'session=of-the-caller',
  };

  it('has no credential of the caller, nor its idempotency key', async () => {
    const { upstream, mirror, gateway, arrived } = await setUp({ route: OPEN });
    const key = randomUUID();
    const headers = { ...SECRETS, 'idempotency-key': key };
    await gateway.call('test', { method: 'POST', headers });
    await arrived(1);
    expect(upstream.seen[0]?.headers).toMatchObject(headers);
    const names = Object.keys(mirror.seen[0]?.headers ?? {});
    expect(names).toEqual(expect.arrayContaining(['x-gateway-mirror', 'host']));
    for (const name of Object.keys(headers)) expect(names).not.toContain(name);
  });

  it('has the credentials of the caller if the route says so, but none of the gateway', async () => {
    const { mirror, gateway, arrived } = await setUp({
      route: OPEN,
      mirror: { pass_credentials: true },
    });
    await gateway.call('test', { headers: SECRETS });
    await arrived(1);
    expect(mirror.seen[0]?.headers).toMatchObject(SECRETS);
    await gateway.call('test', { headers: { authorization: `Bearer ${gateway.secret}` } });
    await arrived(2);
    expect(mirror.seen[1]?.headers).not.toHaveProperty('authorization');
  });

  it('has the credential of its own service, not that of the original', async () => {
    const upstream = opened(await startUpstream());
    const mirror = opened(await startUpstream());
    const secret = createTokenSecret();
    const snapshot = mirroredSnapshot(upstream.url, [mirror.url], secret);
    const services = snapshot.services.map((service) => {
      const credential = { header: `x-of-${service.name}`, value: service.name };
      return { ...service, credential: vault.seal(credential, service.id) };
    });
    const snapshots = [{ ...snapshot, services }];
    const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots, environment }));
    const headers = { authorization: `Bearer ${secret}` };
    expect((await gateway.call('test', { headers })).status).toBe(200);
    await eventually(() => expect(mirror.seen).toHaveLength(1));
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-of-test': 'test' });
    expect(mirror.seen[0]?.headers).toMatchObject({ 'x-of-mirror': 'mirror' });
    expect(mirror.seen[0]?.headers).not.toHaveProperty('x-of-test');
  });

  it.each(['none', 'small', 'kept_stream', 'long_stream'] as const)(
    'has the whole body: %s',
    async (kind) => {
      const { upstream, mirror, gateway, arrived } = await setUp();
      const method = kind === 'none' ? 'GET' : 'PUT';
      const response = await gateway.call('test', { method, ...BODIES[kind]() });
      expect(response.status).toBe(200);
      await arrived(1);
      expect(mirror.seen[0]?.body).toBe(upstream.seen[0]?.body);
      expect(mirror.seen[0]?.body.length).toBe(upstream.seen[0]?.body.length);
    },
  );

  it('is rewritten as the request is', async () => {
    const rewrite = {
      strip_prefix: null,
      add_prefix: '/v2',
      path: null,
      host: 'orders.internal',
      query: { set: [{ name: 'by', value: 'gateway' }], remove: ['secret'] },
      request_headers: { set: [{ name: 'X-Set', value: '{route.name}' }], add: [], remove: [] },
      response_headers: { set: [], add: [], remove: [] },
    };
    const { upstream, mirror, gateway, arrived } = await setUp({ route: { rewrite } });
    await gateway.call('test/orders?secret=1');
    await arrived(1);
    const { url, headers } = mirror.seen[0] ?? {};
    expect([url, headers?.host, headers?.['x-set']]).toEqual([
      '/v2/orders?by=gateway',
      'orders.internal',
      'test',
    ]);
    expect(url).toBe(upstream.seen[0]?.url);
  });

  it('has the id of a session as the upstream made it', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.setHeader('Mcp-Session-Id', 'made-by-the-upstream');
        response.end('ok');
      }),
    );
    const mirror = opened(await startUpstream());
    const affinity = affinityOf({ by: 'upstream_header' });
    const gateway = opened(
      await startMirrored(upstream.url, [mirror.url], { route: { affinity } }),
    );
    const first = await gateway.call('test');
    const session = first.headers.get('mcp-session-id') ?? '';
    expect(session).toMatch(/^made-by-the-upstream.+/);
    await gateway.call('test', { headers: { 'mcp-session-id': session } });
    await eventually(() => expect(mirror.seen).toHaveLength(2));
    const sent = mirror.seen.map(({ headers }) => headers['mcp-session-id']);
    expect(sent).toContain('made-by-the-upstream');
    expect(sent).not.toContain(session);
  });

  it('is made after the caller was asked for its body, and does not ask itself', async () => {
    const { mirror, gateway, arrived } = await setUp();
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      'Host: gateway.test',
      `Authorization: Bearer ${gateway.secret}`,
      'Content-Length: 5',
      'Expect: 100-continue',
    ];
    connection.send(requestText({ method: 'PUT', target: '/v1/proxy/test', lines }));
    expect((await connection.response()).status).toBe(100);
    connection.send('hello');
    expect((await connection.response()).status).toBe(200);
    await arrived(1);
    expect(mirror.seen[0]).toMatchObject({ method: 'PUT', body: 'hello' });
    expect(mirror.seen[0]?.headers).not.toHaveProperty('expect');
  });

  it('that leads back to its own route ends as any loop does', async () => {
    const upstream = opened(await startUpstream());
    const gateway = opened(await startMirrored(upstream.url, ['http://unused'], { route: OPEN }));
    const [service, mirror] = gateway.snapshot.services;
    const [address] = mirror?.upstreams ?? [];
    if (!service || !mirror || !address) throw new Error('the mirror has an upstream');
    const upstreams = [{ ...address, url: `${gateway.url}/v1/proxy/test` }];
    const services = [service, { ...mirror, upstreams }];
    await gateway.use({ ...gateway.snapshot, version: 2, services });
    await gateway.call('test');
    await eventuallyCopies(gateway, { result: '4xx' }, 1);
    await eventuallyCopies(gateway, { result: '2xx' }, MAX_PASSES);
    expect(upstream.seen).toHaveLength(MAX_PASSES + 1);
  });

  it('has a record of its own, which names the original', async () => {
    const { gateway, arrived } = await setUp();
    const response = await gateway.call('test/orders', { method: 'POST', body: 'hello' });
    await response.text();
    await arrived(1);
    const original = await gateway.recordOf(response);
    const copy = await eventually(() => {
      const found = gateway.records.find(({ kind }) => kind === 'mirror');
      if (found === undefined) throw new Error('no record of the copy');
      return found;
    });
    expect(original).toMatchObject({ kind: 'request', parent_id: null, policies: ['mirror'] });
    expect(copy).toMatchObject({
      kind: 'mirror',
      parent_id: original.id,
      policies: null,
      environment: 'production',
      route: 'test',
      service_id: 'svc_mirror',
      method: 'POST',
      path: original.path,
      status: 200,
      outcome: 'success',
      attempts: [{ upstream: 'ups_mirror_0', status: 200 }],
      request_bytes: 5,
      response_bytes: 'of the mirror'.length,
      trace_id: original.trace_id,
      rate_limit: null,
    });
    expect(copy.id).not.toBe(original.id);
  });

  it('is in no count and no list of requests', async () => {
    const { gateway, arrived } = await setUp({ route: { rate_limit: ONE_A_DAY } });
    expect((await gateway.call('test')).status).toBe(200);
    expect((await gateway.call('test')).headers.get('x-ratelimit-remaining')).toBe('0');
    await arrived(2);
    await eventuallyCopies(gateway, { result: '2xx' }, 2);
    expect(gateway.records.filter(({ kind }) => kind === 'request')).toHaveLength(2);
    const metrics = await gateway.registry.metrics();
    expect(metrics).toMatch(/^gateway_requests_total\{.*status="200".*\} 2$/m);
    expect(metrics).not.toMatch(/^gateway_upstream_attempts_total\{.*svc_mirror/m);
    expect(metrics).toMatch(/^gateway_mirrored_request_seconds_count\{.*route="test".*\} 2$/m);
  });
});

const ONE_A_DAY = {
  limit: 2,
  window_seconds: 86_400,
  per: 'route',
  on_store_unavailable: 'share',
} as const;

describe('which requests are copied', () => {
  it('every one at 100 %, none at 0 %', async () => {
    const { mirror, upstream, gateway, arrived } = await setUp();
    await Promise.all(Array.from({ length: 100 }, () => gateway.call('test')));
    await arrived(100);
    const mirrorless = { ...gateway.snapshot, version: 2 };
    const [route] = mirrorless.routes;
    if (!route?.mirror) throw new Error('the route has a mirror');
    await gateway.use({
      ...mirrorless,
      routes: [{ ...route, mirror: { ...route.mirror, percent: 0 } }],
    });
    await gateway.call('test');
    await gateway.stop();
    expect(upstream.seen).toHaveLength(101);
    expect(mirror.seen).toHaveLength(100);
  });

  it('a share of them that is as large as it is set', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 100, noNaN: true }), fc.nat(999), (percent, offset) => {
        const draws = Array.from({ length: 1000 }, (_, index) => ((index + offset) % 1000) / 1000);
        const sampled = draws.filter((random) => isSampled(percent, () => random)).length;
        expect(Math.abs(sampled - percent * 10)).toBeLessThanOrEqual(1);
      }),
    );
    expect(isSampled(100, () => 1 - Number.EPSILON)).toBe(true);
    expect(isSampled(0, () => 0)).toBe(false);
  });

  it('one that is retried is copied once', async () => {
    let requests = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        response.statusCode = requests++ === 0 ? 503 : 200;
        response.end();
      }),
    );
    const mirror = opened(await startUpstream());
    const gateway = opened(await startMirrored(upstream.url, [mirror.url]));
    expect((await gateway.call('test')).status).toBe(200);
    await eventuallyCopies(gateway, { result: '2xx' }, 1);
    await gateway.stop();
    expect(upstream.seen).toHaveLength(2);
    expect(mirror.seen).toHaveLength(1);
  });

  it('one that fails at the mirror is not sent again', async () => {
    const upstream = opened(await startUpstream());
    const mirror = opened(
      await startUpstream((_seen, response) => {
        response.statusCode = 503;
        response.end();
      }),
    );
    const gateway = opened(await startMirrored(upstream.url, [mirror.url, mirror.url]));
    expect((await gateway.call('test')).status).toBe(200);
    await eventuallyCopies(gateway, { result: '5xx' }, 1);
    await gateway.stop();
    expect(mirror.seen).toHaveLength(1);
  });

  it('no replay of a stored response, and no request that is refused', async () => {
    const { mirror, gateway, arrived } = await setUp({ route: { rate_limit: ONE_A_DAY } });
    const keyed = { method: 'POST', headers: { 'idempotency-key': randomUUID() } };
    await gateway.call('test', keyed);
    const replay = await gateway.call('test', keyed);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect((await gateway.call('test')).status).toBe(429);
    expect((await gateway.call('test', { headers: { authorization: 'Bearer x' } })).status).toBe(
      401,
    );
    await arrived(1);
    await gateway.stop();
    expect(mirror.seen).toHaveLength(1);
  });

  it('no request to switch protocols; it is counted', async () => {
    const { gateway } = await setUp({ route: OPEN });
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/proxy/test`);
    await new Promise((resolve) => socket.addEventListener('error', resolve));
    expect(await copies(gateway, { reason: 'upgrade' })).toBe(1);
  });
});
