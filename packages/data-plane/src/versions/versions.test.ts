import { describe, expect, it } from '@jest/globals';
import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot, testToken } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

type Weights = Readonly<Record<string, number>>;

/** A snapshot in which the route `test` has one version and service for each upstream. */
function versioned(
  upstreams: ReadonlyMap<string, TestUpstream>,
  weights: Weights,
  secret: string,
  fields: Partial<SnapshotRoute> = {},
): Snapshot {
  const rate_limit = {
    limit: 1_000_000,
    window_seconds: 3600,
    per: 'route',
    on_store_unavailable: 'share',
  } as const;
  const base = testSnapshot({ upstreams: ['http://unused'], rate_limit, ...fields }, secret);
  const names = [...upstreams.keys()];
  return {
    ...base,
    services: base.services.flatMap((service) =>
      names.map((name) => ({
        ...service,
        id: `svc_${name}`,
        name,
        upstreams: [
          { id: `ups_${name}`, url: upstreams.get(name)?.url ?? '', region: null, weight: 1 },
        ],
      })),
    ),
    routes: base.routes.map((route) => ({
      ...route,
      versions: names.map((name) => {
        return { name, service_id: `svc_${name}`, weight: weights[name] ?? 0 };
      }),
    })),
  };
}

/** A route with these weights, whose versions respond with their names. */
async function setUp(weights: Weights, fields: Partial<SnapshotRoute> = {}) {
  const upstreams = new Map<string, TestUpstream>();
  for (const name of Object.keys(weights)) {
    upstreams.set(name, opened(await startUpstream((_seen, response) => response.end(name))));
  }
  const secret = createTokenSecret();
  const snapshot = versioned(upstreams, weights, secret, fields);
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot] }));
  let version = 1;
  return {
    gateway,
    snapshot,
    upstreams,
    use: async (change: (before: Snapshot) => Snapshot) => {
      await gateway.use({ ...change(snapshot), version: (version += 1) });
    },
    ask: (headers: Record<string, string> = {}) =>
      gateway.call('test', { headers: { authorization: `Bearer ${secret}`, ...headers } }),
    secret,
  };
}

describe('a route with versions', () => {
  // choose-version.test.ts has the same for 10 000 callers, without requests.
  it('splits the requests of 500 callers 90 to 10 within 3 %', async () => {
    const { ask, use, upstreams } = await setUp({ v1: 90, v2: 10 });
    const secrets = Array.from({ length: 500 }, () => createTokenSecret());
    await use((before) => ({
      ...before,
      tokens: secrets.map((secret, index) => testToken(secret, { id: `tok_${index}` })),
    }));
    const notServed: number[] = [];
    const caller = async (from: number) => {
      for (let index = from; index < secrets.length; index += 20) {
        const response = await ask({ authorization: `Bearer ${secrets[index] ?? ''}` });
        if (response.status !== 200) notServed.push(response.status);
        await response.text();
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_none, from) => caller(from)));
    expect(notServed).toEqual([]);
    const [v1 = 0, v2 = 0] = [...upstreams.values()].map(({ seen }) => seen.length);
    expect(v1 + v2).toBe(500);
    expect(Math.abs(v1 / 500 - 0.9)).toBeLessThan(0.03);
  });

  it('sends a caller always to the same version, whatever secret its token has', async () => {
    const { ask, use, secret } = await setUp({ v1: 50, v2: 50 });
    const rotated = createTokenSecret();
    await use((before) => ({
      ...before,
      tokens: before.tokens.map((token) => ({
        ...token,
        secrets: [...token.secrets, ...testToken(rotated).secrets],
      })),
    }));
    const answers = new Set<string>();
    for (let request = 0; request < 200; request += 1) {
      const authorization = `Bearer ${request % 2 === 0 ? secret : rotated}`;
      answers.add(await (await ask({ authorization })).text());
    }
    expect(answers.size).toBe(1);
  });

  it('splits unauthenticated callers by address', async () => {
    const { gateway, upstreams } = await setUp({ v1: 50, v2: 50 }, { auth: { type: 'none' } });
    for (let request = 0; request < 20; request += 1) {
      expect((await fetch(`${gateway.url}/v1/proxy/test`)).status).toBe(200);
    }
    expect([...upstreams.values()].map(({ seen }) => seen.length).sort()).toEqual([0, 20]);
  });

  it('sends a request to the version in X-Gateway-Version, even with weight 0', async () => {
    const { ask, gateway } = await setUp({ v1: 100, next: 0 });
    expect(await (await ask()).text()).toBe('v1');
    for (const name of ['next', 'v1']) {
      const response = await ask({ 'x-gateway-version': name });
      expect(await response.text()).toBe(name);
      expect(await gateway.recordOf(response)).toMatchObject({
        route_version: name,
        service_id: `svc_${name}`,
        upstream: { id: `ups_${name}` },
      });
    }
  });

  it.each(['v3', '', 'V1', 'v1,next', 'v1 next', '*'])(
    'answers 400 to the unknown version %j, and spends no quota',
    async (name) => {
      const { ask, gateway, upstreams } = await setUp({ v1: 100, next: 0 });
      const before = Number((await ask()).headers.get('x-ratelimit-remaining'));
      const response = await ask({ 'x-gateway-version': name });
      const error = await expectRefusal(response, 400, 'invalid_request');
      expect(error.details).toEqual([
        { path: 'x-gateway-version', message: 'must name a version of the route test' },
      ]);
      expect(await gateway.recordOf(response)).toMatchObject({ route_version: null });
      expect(Number((await ask()).headers.get('x-ratelimit-remaining'))).toBe(before - 1);
      expect(upstreams.get('v1')?.seen).toHaveLength(2);
    },
  );

  it('takes a header that is repeated with the same value', async () => {
    const { gateway, secret } = await setUp({ v1: 100, next: 0 });
    const lines = ['Host: gateway.test', 'X-Gateway-Version: next', 'x-gateway-version: next'];
    const answer = await rawCall(gateway.port, { target: '/v1/proxy/test', lines }, secret);
    expect(answer.status).toBe(200);
    expect(await gateway.recordOf(answer)).toMatchObject({ route_version: 'next' });
  });

  it('answers 400 to different values of the header and reveals versions only to callers of the route', async () => {
    const { gateway, secret } = await setUp({ v1: 100, next: 0 });
    const twice = ['X-Gateway-Version: v1', 'x-gateway-version: next'];
    const answer = await rawCall(
      gateway.port,
      { target: '/v1/proxy/test', lines: ['Host: gateway.test', ...twice] },
      secret,
    );
    const { details } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details).toEqual([{ path: 'x-gateway-version', message: 'must be sent once' }]);
    const stranger = await fetch(`${gateway.url}/v1/proxy/test`, {
      headers: { 'x-gateway-version': 'v3' },
    });
    await expectRefusal(stranger, 401, 'authentication_failed');
  });

  it('sends a WebSocket upgrade to the version in X-Gateway-Version too', async () => {
    const { gateway, secret } = await setUp({ v1: 100, next: 0 });
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const lines = ['Host: gateway.test', ...upgrade, key, 'X-Gateway-Version: next'];
    const request = { method: 'GET', target: '/v1/proxy/test', lines };
    // The upstream does not switch, and its own answer comes back.
    const answer = await rawCall(gateway.port, request, secret);
    expect(await answer.text()).toBe('next');
    expect(await gateway.recordOf(answer)).toMatchObject({ route_version: 'next' });
  });

  it('never forwards the header', async () => {
    const { ask, upstreams } = await setUp({ v1: 1 });
    expect((await ask({ 'x-gateway-version': 'v1' })).status).toBe(200);
    expect(upstreams.get('v1')?.seen[0]?.rawHeaders.join('\n')).not.toMatch(/x-gateway/i);
  });

  it('moves requests when weights change, and back', async () => {
    const { ask, use, snapshot } = await setUp({ v1: 100, v2: 0 });
    const weigh = async (v1: number, v2: number) => {
      await use((before) => ({
        ...before,
        routes: snapshot.routes.map((route) => ({
          ...route,
          versions: route.versions.map((one) => ({ ...one, weight: one.name === 'v1' ? v1 : v2 })),
        })),
      }));
    };
    expect(await (await ask()).text()).toBe('v1');
    await weigh(0, 100);
    expect(await (await ask()).text()).toBe('v2');
    await weigh(100, 0);
    expect(await (await ask()).text()).toBe('v1');
  });
});

describe('a route with a single service', () => {
  it('has no version to choose and none in the record', async () => {
    const upstream = opened(await startUpstream());
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const response = await gateway.call('test');
    expect(await gateway.recordOf(response)).toMatchObject({
      route_version: null,
      service_id: 'svc_test',
    });
    const pinned = await gateway.call('test', { headers: { 'x-gateway-version': 'v1' } });
    await expectRefusal(pinned, 400, 'invalid_request');
  });
});
