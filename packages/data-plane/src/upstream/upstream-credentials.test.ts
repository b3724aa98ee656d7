import { randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { systemRandom } from '@gateway/shared/ids';
import {
  CredentialVault,
  type UpstreamCredential,
} from '@gateway/shared/secrets/upstream-credential';
import type { Snapshot, SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const bytes = randomBytes(32);
const environment = { GATEWAY_MASTER_KEYS: `k1:${bytes.toString('base64')}` };
const vault = new CredentialVault([{ id: 'k1', bytes }], systemRandom);
const otherVault = new CredentialVault([{ id: 'k2', bytes: randomBytes(32) }], systemRandom);
const BEARER = { header: 'authorization', value: 'Bearer upstreams-own' };

function withCredential(
  snapshot: Snapshot,
  credential: UpstreamCredential,
  seal = vault,
  owner = 'svc_test',
): Snapshot {
  const [service, ...others] = snapshot.services;
  if (service === undefined) throw new Error('the snapshot has a service');
  const sealed = seal.seal(credential, owner);
  return { ...snapshot, services: [{ ...service, credential: sealed }, ...others] };
}

interface SetUp {
  readonly route?: Partial<SnapshotRoute>;
  readonly seal?: CredentialVault;
  readonly owner?: string;
  readonly answers?: readonly number[];
}

async function setUp(credential: UpstreamCredential, options: SetUp = {}) {
  const { answers = [], seal, owner, route } = options;
  const left = [...answers];
  const upstream = opened(
    await startUpstream((_seen, response) => void response.writeHead(left.shift() ?? 200).end()),
  );
  const token = createTokenSecret();
  const plain = testSnapshot({ upstreams: [upstream.url], ...route }, token);
  const snapshot = withCredential(plain, credential, seal, owner);
  const gateway = opened(
    await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], environment }),
  );
  const call = (headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${gateway.url}/v1/proxy/test`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return { upstream, gateway, token, plain, call };
}

/** Lines that arrived with this name, in any case and with dashes or underscores. */
function arrived(seen: SeenRequest | undefined, dashedName: string): string[] {
  const { rawHeaders = [] } = seen ?? {};
  return rawHeaders.filter(
    (_text, at) =>
      at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase().replaceAll('_', '-') === dashedName,
  );
}

describe('the credential of a service', () => {
  it('goes to the upstream in place of what the caller sent to the gateway', async () => {
    const { upstream, call } = await setUp(BEARER);
    expect((await call()).status).toBe(200);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([BEARER.value]);
  });

  it('takes the place of what an open route would pass on', async () => {
    const { upstream, gateway } = await setUp(BEARER, { route: { auth: { type: 'none' } } });
    const lines = ['Host: gateway.test', 'Authorization: Bearer callers-own'];
    await rawCall(gateway.port, { method: 'GET', lines, body: '' }, undefined);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([BEARER.value]);
  });

  it.each([
    ['x-upstream-key', ['X-Upstream-Key: own', 'x-UPSTREAM-key: own', 'X_Upstream_Key: own']],
    ['x_upstream_key', ['X-Upstream-Key: own', 'X_Upstream-Key: own', 'x_upstream_key: own']],
    ['x-api-key', ['X-API-Key: own', 'X_API_Key: own']],
    ['cookie', ['Cookie: session=own', 'Cookie: session=own']],
    ['x-upstream-key', ['X-Upstream-Key: own', 'Connection: X-Upstream-Key']],
  ])('in %s stands alone whatever the caller sent under that name: %j', async (header, sent) => {
    const credential = { header, value: 'upstreams-own' };
    const { upstream, gateway, token } = await setUp(credential);
    const lines = ['Host: gateway.test', 'X-Other: kept', ...sent];
    const { status } = await rawCall(gateway.port, { method: 'GET', lines, body: '' }, token);
    expect(status).toBe(200);
    const dashed = header.replaceAll('_', '-');
    expect(arrived(upstream.seen[0], dashed)).toEqual(['upstreams-own']);
    expect(arrived(upstream.seen[0], 'x-other')).toEqual(['kept']);
  });

  it('in a header of its own leaves the caller’s Authorization as it is', async () => {
    const { upstream, gateway } = await setUp(
      { header: 'x-upstream-key', value: 'upstreams-own' },
      { route: { auth: { type: 'none' } } },
    );
    const lines = ['Host: gateway.test', 'Authorization: Bearer callers-own'];
    await rawCall(gateway.port, { method: 'GET', lines, body: '' }, undefined);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual(['Bearer callers-own']);
  });

  it('goes with every attempt', async () => {
    const { upstream, call } = await setUp(BEARER, { answers: [503, 502] });
    expect((await call()).status).toBe(200);
    expect(upstream.seen.map((seen) => arrived(seen, 'authorization'))).toEqual([
      ...[[BEARER.value], [BEARER.value], [BEARER.value]],
    ]);
  });

  it('is that of the version that the caller gets', async () => {
    const { upstream, gateway, plain, call } = await setUp(BEARER);
    const [service] = plain.services;
    const [route] = plain.routes;
    if (service === undefined || route === undefined) throw new Error('there is a route');
    const other = { header: 'x-upstream-key', value: 'of-the-other' };
    await gateway.use({
      ...plain,
      version: 2,
      services: [
        { ...service, credential: vault.seal(BEARER, 'svc_test') },
        { ...service, id: 'svc_other', credential: vault.seal(other, 'svc_other') },
      ],
      routes: [
        {
          ...route,
          versions: [
            { name: 'v1', service_id: 'svc_test', weight: 1 },
            { name: 'v2', service_id: 'svc_other', weight: 1 },
          ],
        },
      ],
    });
    for (const version of ['v1', 'v2']) await call({ 'x-gateway-version': version });
    const [first, second] = upstream.seen;
    expect(arrived(first, 'authorization')).toEqual([BEARER.value]);
    expect(arrived(first, 'x-upstream-key')).toEqual([]);
    expect(arrived(second, 'authorization')).toEqual([]);
    expect(arrived(second, 'x-upstream-key')).toEqual(['of-the-other']);
  });

  it('is replaced, and taken away, by a new configuration', async () => {
    const { upstream, gateway, plain, call } = await setUp(BEARER);
    await gateway.use({
      ...withCredential(plain, { ...BEARER, value: 'Bearer next' }),
      version: 2,
    });
    await call();
    await gateway.use({ ...plain, version: 3 });
    await call();
    expect(upstream.seen.map((seen) => arrived(seen, 'authorization'))).toEqual([
      ...[['Bearer next'], []],
    ]);
  });

  it('goes with a request to switch to WebSocket', async () => {
    const { upstream, gateway, token } = await setUp({ header: 'x-upstream-key', value: 'own' });
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: gateway.port, path: '/v1/proxy/test' },
      headers: {
        ...{ connection: 'Upgrade', upgrade: 'websocket', authorization: `Bearer ${token}` },
        ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==' },
        ...{ 'x-upstream-key': 'callers', x_upstream_key: 'callers' },
      },
    }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    const [seen] = upstream.seen;
    expect(seen?.headers.upgrade).toBe('websocket');
    expect(arrived(seen, 'x-upstream-key')).toEqual(['own']);
    expect(arrived(seen, 'authorization')).toEqual([]);
  });

  it('is in no record and in no line of the log, whatever becomes of the request', async () => {
    const credential = { header: 'x-upstream-key', value: 'mark3r-s3cret' };
    const { upstream, gateway, call } = await setUp(credential, { answers: [200, 500, 503, 503] });
    const responses = [await call(), await call(), await call()];
    await upstream.close();
    responses.push(await call());
    for (const response of responses) await gateway.recordOf(response);
    expect(responses.map(({ status }) => status)).toEqual([200, 500, 200, 502]);
    expect(JSON.stringify(gateway.records)).not.toContain('mark3r');
    expect(gateway.logLines.join('\n')).not.toContain('mark3r');
    expect(await gateway.registry.metrics()).not.toContain('mark3r');
  });
});

describe('a service whose credential cannot be opened', () => {
  it.each([
    ['as its key is missing', { seal: otherVault }],
    ['as it was made for another service', { owner: 'svc_other' }],
  ])('%s is refused with 503, and nothing is sent', async (_why, options) => {
    const { upstream, gateway, call } = await setUp(BEARER, options);
    const response = await call();
    await expectRefusal(response, 503, 'gateway_not_ready');
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(upstream.seen).toEqual([]);
    expect(await gateway.recordOf(response)).toMatchObject({
      ...{ outcome: 'rejected', error_code: 'gateway_not_ready', attempts: [] },
    });
  });

  it('is refused before its quota is spent, also to an upgrade, while other services are served', async () => {
    const { upstream, gateway, plain, call, token } = await setUp(BEARER);
    const [service] = plain.services;
    const [route] = plain.routes;
    if (service === undefined || route === undefined) throw new Error('there is a route');
    await gateway.use({
      ...plain,
      version: 2,
      services: [
        { ...service, credential: otherVault.seal(BEARER, 'svc_test') },
        { ...service, id: 'svc_other' },
      ],
      routes: [
        { ...route, rate_limit: { limit: 1, window_seconds: 3600, per: 'route' } },
        {
          ...{ ...route, id: 'rte_other', name: 'other' },
          versions: [{ name: null, service_id: 'svc_other', weight: 1 }],
        },
      ],
    });
    for (let count = 0; count < 3; count += 1) {
      await expectRefusal(await call(), 503, 'gateway_not_ready');
    }
    const lines = [
      ...['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=='],
    ];
    const upgrade = await rawCall(gateway.port, { method: 'GET', lines, body: '' }, token);
    expect(upgrade.status).toBe(503);
    expect(upstream.seen).toEqual([]);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${gateway.url}/v1/proxy/other`, { headers })).status).toBe(200);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([]);
  });
});
