import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { rawCall } from '@gateway/shared/test/raw-client';
import { describe, expect, it } from '@jest/globals';
import {
  arrived,
  BEARER,
  credentialStarter,
  vault,
  withCredential,
} from '../../test/credential-world.ts';

const startWithCredential = credentialStarter();

describe('the credential of a service', () => {
  it('is sent to the upstream in place of the token of the caller', async () => {
    const { upstream, call } = await startWithCredential(BEARER);
    expect((await call()).status).toBe(200);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([BEARER.value]);
  });

  it('replaces an Authorization that a route without authentication would pass on', async () => {
    const { upstream, gateway } = await startWithCredential(BEARER, {
      route: { auth: { type: 'none' } },
    });
    const lines = ['Host: gateway.test', 'Authorization: Bearer callers-own'];
    await rawCall(gateway.port, { method: 'GET', lines, body: '' }, undefined);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([BEARER.value]);
  });

  it.each([
    ['x-upstream-key', ['X-Upstream-Key: own', 'x-UPSTREAM-key: own', 'X_Upstream_Key: own']],
    ['x_upstream_key', ['X-Upstream-Key: own', 'X_Upstream-Key: own', 'x_upstream_key: own']],
    ['x-api-key', ['X-API-Key: own', 'X_API_Key: own']],
    ['x-upstream-key', ['X--Upstream-Key: own', 'X-Upstream__Key: own', 'X_-Upstream-_Key: own']],
    ['cookie', ['Cookie: session=own', 'Cookie: session=own']],
    ['x-upstream-key', ['X-Upstream-Key: own', 'Connection: X-Upstream-Key']],
  ])(
    'in %s is the only one, whatever the caller sent under that name: %j',
    async (header, sent) => {
      const credential = { header, value: 'upstreams-own' };
      const { upstream, gateway, token } = await startWithCredential(credential);
      const lines = ['Host: gateway.test', 'X-Other: kept', ...sent];
      const { status } = await rawCall(gateway.port, { method: 'GET', lines, body: '' }, token);
      expect(status).toBe(200);
      expect(arrived(upstream.seen[0], header)).toEqual(['upstreams-own']);
      expect(arrived(upstream.seen[0], 'x-other')).toEqual(['kept']);
    },
  );

  it('in another header leaves the Authorization of the caller unchanged', async () => {
    const { upstream, gateway } = await startWithCredential(
      { header: 'x-upstream-key', value: 'upstreams-own' },
      { route: { auth: { type: 'none' } } },
    );
    const lines = ['Host: gateway.test', 'Authorization: Bearer callers-own'];
    await rawCall(gateway.port, { method: 'GET', lines, body: '' }, undefined);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual(['Bearer callers-own']);
  });

  it('is sent with every attempt', async () => {
    const { upstream, call } = await startWithCredential(BEARER, { statuses: [503, 502] });
    expect((await call()).status).toBe(200);
    expect(upstream.seen.map((seen) => arrived(seen, 'authorization'))).toEqual(
      Array(3).fill([BEARER.value]),
    );
  });

  it('is that of the version of the route that serves the request', async () => {
    const { upstream, gateway, plain, call } = await startWithCredential(BEARER);
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

  it('is replaced and removed by a new configuration', async () => {
    const { upstream, gateway, plain, call } = await startWithCredential(BEARER);
    await gateway.use({
      ...withCredential(plain, { ...BEARER, value: 'Bearer next' }),
      version: 2,
    });
    await call();
    await gateway.use({ ...plain, version: 3 });
    await call();
    expect(upstream.seen.map((seen) => arrived(seen, 'authorization'))).toEqual([
      ['Bearer next'],
      [],
    ]);
  });

  it('is sent with a request to switch to WebSocket', async () => {
    const { upstream, gateway, token } = await startWithCredential({
      header: 'x-upstream-key',
      value: 'own',
    });
    const request = httpRequest({
      host: '127.0.0.1',
      port: gateway.port,
      path: '/v1/proxy/test',
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        authorization: `Bearer ${token}`,
        'sec-websocket-version': '13',
        'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
        'x-upstream-key': 'callers',
        x_upstream_key: 'callers',
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

  it('is in no record, log line or metric, whatever the outcome of the request', async () => {
    const credential = { header: 'x-upstream-key', value: 'mark3r-s3cret' };
    const { upstream, gateway, call } = await startWithCredential(credential, {
      statuses: [200, 500, 503, 503],
    });
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
