import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sealLogEntry, openLogEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import { ELEMENT_FORMAT, SNAPSHOT_FORMAT, type Snapshot } from '@gateway/shared/snapshot/schema';
import { openSnapshot, sealSnapshotText } from '@gateway/shared/snapshot/signed-snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startTokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';
import { createTokenSecret, hashTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
const keys = [{ id: 'k1', bytes: randomBytes(32) }];

/** What a data plane reads of it. */
async function received(snapshot: object) {
  const { environment, version } = snapshot as Snapshot;
  const name = { environment, version, object: 'o' };
  const { pointer, bytes } = await sealSnapshotText(JSON.stringify(snapshot), name, keys);
  return openSnapshot(pointer, bytes);
}

/** What a data plane reads of a delta with these changes. */
function receivedDelta(
  from: number,
  changes: Readonly<Partial<Record<'services' | 'routes' | 'tokens', object>>>,
): Delta {
  const nothing = { put: [], remove: [] };
  const delta = {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    from,
    version: from + 1,
    since: { snapshot: 1, deltas: 1, bytes: 1 },
    ...{ services: nothing, routes: nothing, tokens: nothing },
    ...changes,
  } as Delta;
  const { entry } = openLogEntry(sealLogEntry(delta, keys), delta.environment, keys);
  if (entry.kind !== 'delta') throw new Error('not a delta');
  return entry;
}

/** A gateway with the route `test`, and what it takes to add more. */
async function setUp() {
  const upstream = opened(await startUpstream());
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
  const base = testSnapshot({ upstreams: [upstream.url] }, gateway.token);
  const [sound] = base.routes;
  if (sound === undefined) throw new Error('the snapshot has no route');
  return { upstream, gateway, base, sound };
}

/** What a later release might publish of a route. */
const LATER = {
  'an unknown kind of authentication': { auth: { type: 'mutual_tls' } },
  'an unknown value': { rate_limit: { limit: 1, window_seconds: 1, per: 'country' } },
  'a setting that must not be ignored': {
    format: ELEMENT_FORMAT + 1,
    allow_cidrs: ['10.0.0.0/8'],
  },
  'what names it, and why it does not compile': {
    versions: undefined,
    unusable: 'versions: too many',
  },
  'a key set without an address': {
    auth: {
      ...{ type: 'jwt', issuer: 'i', audience: ['a'], algorithms: ['RS256'] },
      ...{ jwks_url: 'nowhere', required_claims: [] },
    },
  },
  'a version without its service': { versions: [{ name: null, service_id: 'svc_9', weight: 1 }] },
};

describe('a route that this data plane cannot use', () => {
  it.each(Object.entries(LATER))(
    'with %s: it alone is refused, with 503',
    async (_what, fields) => {
      const { gateway, base, sound, upstream } = await setUp();
      const routes = [sound, { ...sound, id: 'rte_later', name: 'later', ...fields }];
      await gateway.use(await received({ ...base, routes, version: 2 }));
      expect((await gateway.call('test')).status).toBe(200);
      const refused = await gateway.call('later');
      await expectRefusal(refused, 503, 'route_unusable');
      expect(refused.headers.get('retry-after')).toBe('5');
      expect(await gateway.recordOf(refused)).toMatchObject({
        route: 'later',
        outcome: 'rejected',
        error_code: 'route_unusable',
        error_stage: 'authorize',
      });
      await expectRefusal(await gateway.call('other'), 404, 'route_not_found');
      expect(upstream.seen).toHaveLength(1);
      const metrics = await gateway.registry.metrics();
      expect(metrics).toContain('gateway_config_unusable{environment="production",kind="route"} 1');
      expect(metrics).toMatch(
        /gateway_requests_total\{[^}]*route="later"[^}]*code="route_unusable"\} 1/,
      );
      expect(
        gateway.logLines.filter((line) => line.includes('configuration partly unusable')),
      ).toHaveLength(1);
      // It heals with the next change.
      await gateway.use(
        await received({
          ...base,
          routes: [sound, { ...sound, id: 'rte_later', name: 'later' }],
          version: 3,
        }),
      );
      expect((await gateway.call('later')).status).toBe(200);
      expect(await gateway.registry.metrics()).toContain(
        'gateway_config_unusable{environment="production",kind="route"} 0',
      );
      expect(
        gateway.logLines.filter((line) => line.includes('configuration usable again')),
      ).toHaveLength(1);
    },
  );

  it('is refused and served again by deltas as well', async () => {
    const { gateway, base, sound } = await setUp();
    const delta = (from: number, fields: object) =>
      receivedDelta(from, { routes: { put: [{ ...sound, ...fields }], remove: [] } });
    await gateway.use({ ...base, version: 2 });
    gateway.change(delta(2, LATER['an unknown value']));
    await expectRefusal(await gateway.call('test'), 503, 'route_unusable');
    gateway.change(delta(3, {}));
    expect((await gateway.call('test')).status).toBe(200);
  });

  it('answers 503 to the callers that its authentication admits, if that can be read', async () => {
    const { gateway, base, sound } = await setUp();
    const issuer = opened(await startTokenIssuer());
    const auths = { jwt: issuer.auth(), none: { type: 'none' }, api_key: { type: 'api_key' } };
    const routes = Object.entries(auths).map(([name, auth]) => {
      return { ...sound, id: `rte_${name}`, name, auth, ...LATER['an unknown value'] };
    });
    await gateway.use(await received({ ...base, routes, version: 2 }));
    const call = (route: string, headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/proxy/${route}`, { headers });
    await expectRefusal(await call('none', {}), 503, 'route_unusable');
    const jwt = { authorization: `Bearer ${await issuer.token()}` };
    await expectRefusal(await call('jwt', jwt), 503, 'route_unusable');
    await expectRefusal(await call('jwt', {}), 401, 'authentication_failed');
    const key = { 'x-api-key': gateway.token };
    await expectRefusal(await call('api_key', key), 503, 'route_unusable');
    const bearer = { authorization: `Bearer ${gateway.token}` };
    await expectRefusal(await call('api_key', bearer), 401, 'authentication_failed');
  });
});

describe('two elements with one id', () => {
  it('are both left out: it is not known which of them is meant', async () => {
    const { gateway, base, sound } = await setUp();
    const [service] = base.services;
    const [token] = base.tokens;
    const other = createTokenSecret();
    const revoked = {
      ...token,
      secrets: [{ sha256: hashTokenSecret(other), expires_at_ms: null }],
    };
    const call = (path: string, secret: string) =>
      fetch(`${gateway.url}/v1/proxy/${path}`, { headers: { authorization: `Bearer ${secret}` } });

    const routes = [sound, { ...sound, name: 'second' }, { ...sound, id: 'rte_3', name: 'third' }];
    await gateway.use(await received({ ...base, routes, version: 2 }));
    await expectRefusal(await gateway.call('test'), 503, 'route_unusable');
    await expectRefusal(await gateway.call('second'), 503, 'route_unusable');
    expect((await gateway.call('third')).status).toBe(200);
    // The next change of the id replaces both.
    gateway.change(receivedDelta(2, { routes: { put: [sound], remove: [] } }));
    expect((await gateway.call('test')).status).toBe(200);
    await expectRefusal(await gateway.call('second'), 404, 'route_not_found');
    gateway.change(receivedDelta(3, { routes: { put: [], remove: [sound.id] } }));
    await expectRefusal(await gateway.call('test'), 404, 'route_not_found');

    const services = [service, { ...service, name: 'second' }];
    await gateway.use(await received({ ...base, services, version: 5 }));
    await expectRefusal(await gateway.call('test'), 503, 'route_unusable');
    gateway.change(receivedDelta(5, { services: { put: [service], remove: [] } }));
    expect((await gateway.call('test')).status).toBe(200);

    await gateway.use(await received({ ...base, tokens: [token, revoked], version: 7 }));
    expect((await call('test', gateway.token)).status).toBe(401);
    expect((await call('test', other)).status).toBe(401);
    gateway.change(receivedDelta(7, { tokens: { put: [token], remove: [] } }));
    expect((await call('test', gateway.token)).status).toBe(200);
    expect((await call('test', other)).status).toBe(401);
  });

  it('are both left out if a delta puts them, or if one of them cannot be read', async () => {
    const { gateway, base, sound } = await setUp();
    await gateway.use({ ...base, version: 2 });
    const put = [sound, { ...sound, name: 'second', ...LATER['an unknown value'] }];
    gateway.change(receivedDelta(2, { routes: { put, remove: [] } }));
    await expectRefusal(await gateway.call('test'), 503, 'route_unusable');
    await expectRefusal(await gateway.call('second'), 503, 'route_unusable');
    await gateway.use(await received({ ...base, version: 4 }));
    expect((await gateway.call('test')).status).toBe(200);
    await expectRefusal(await gateway.call('second'), 404, 'route_not_found');
  });
});

describe('a configuration', () => {
  it.each([
    [
      'a service',
      { services: [{ id: 'svc_test', name: 'test', unusable: 'upstreams: too few' }] },
      503,
    ],
    [
      'a service whose upstream is at no HTTP URL',
      { services: testSnapshot({ upstreams: ['data:,x'] }, '').services },
      503,
    ],
    ['a token', { tokens: [{ id: 'tok_test', unusable: 'scopes: unknown' }] }, 401],
  ])('is served without %s that cannot be used', async (_what, fields, status) => {
    const { gateway, base } = await setUp();
    await gateway.use(await received({ ...base, version: 2, ...fields }));
    expect((await gateway.call('test')).status).toBe(status);
    expect(gateway.logLines.some((line) => line.includes('configuration partly unusable'))).toBe(
      true,
    );
  });

  it('is refused if a part of it does not even say what it is', async () => {
    const { base, sound } = await setUp();
    const nameless = { ...base, routes: [{ ...sound, name: undefined }] };
    await expect(received(nameless)).rejects.toThrow('invalid snapshot: routes');
    await expect(received({ ...base, tokens: [{}] })).rejects.toThrow('invalid snapshot: tokens');
  });
});
