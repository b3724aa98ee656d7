import { rawCall } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { describe, expect, it } from '@jest/globals';
import { arrived, BEARER, otherVault, credentialStarter } from '../../test/credential-world.ts';

const startWithCredential = credentialStarter();

describe('a service whose credential cannot be decrypted', () => {
  it.each([
    ['because its master key is missing', { seal: otherVault }],
    ['because it was encrypted for another service', { owner: 'svc_other' }],
  ])('%s is refused with 503, and nothing is sent', async (_why, options) => {
    const { upstream, gateway, call } = await startWithCredential(BEARER, options);
    const response = await call();
    await expectRefusal(response, 503, 'gateway_not_ready');
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(upstream.seen).toEqual([]);
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'rejected',
      error_code: 'gateway_not_ready',
      attempts: [],
    });
  });

  it('spends no quota when it is refused, also for an upgrade, and other services are served', async () => {
    const { upstream, gateway, plain, call, token } = await startWithCredential(BEARER);
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
        {
          ...route,
          rate_limit: {
            limit: 1,
            window_seconds: 3600,
            per: 'route',
            on_store_unavailable: 'share',
          },
        },
        {
          ...route,
          id: 'rte_other',
          name: 'other',
          versions: [{ name: null, service_id: 'svc_other', weight: 1 }],
        },
      ],
    });
    for (let count = 0; count < 3; count += 1) {
      await expectRefusal(await call(), 503, 'gateway_not_ready');
    }
    const lines = [
      'Host: gateway.test',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
    ];
    const upgrade = await rawCall(gateway.port, { method: 'GET', lines, body: '' }, token);
    expect(upgrade.status).toBe(503);
    expect(upstream.seen).toEqual([]);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${gateway.url}/v1/proxy/other`, { headers })).status).toBe(200);
    expect(arrived(upstream.seen[0], 'authorization')).toEqual([]);
  });
});
