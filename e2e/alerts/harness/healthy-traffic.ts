import { expect } from '@jest/globals';
import type { Gateway } from '../../harness/gateway.ts';

/**
 * Routes for traffic that succeeds: plain, with idempotency keys and duplicates, below and above a quota, and refusals that
 * a caller causes. Each round also changes the configuration.
 */
export async function prepareHealthyTraffic(gateway: Gateway): Promise<() => Promise<void>> {
  const { admin } = gateway;
  const plain = await gateway.route({ name: 'healthy' });
  await gateway.route({ name: 'limited', rate_limit: { limit: 2, window_seconds: 60 } });
  await gateway.route({ name: 'counted', rate_limit: { limit: 100_000, window_seconds: 3600 } });
  await gateway.settled();
  const urls = gateway.dataPlanes.map(({ baseUrl }) => baseUrl);
  let rounds = 0;

  return async () => {
    rounds += 1;
    const headers = { 'idempotency-key': `healthy-${rounds}` };
    const change = { timeout_ms: 10_000 + rounds };
    const statuses = await Promise.all([
      ...urls.flatMap((url) => {
        const client = admin.at(url);
        return [
          client.proxy('healthy', { method: 'GET' }),
          client.proxy('healthy', { headers }),
          client.proxy('counted'),
          client.proxy('limited'),
          client.proxy('healthy', { token: null }),
          client.proxy('no-such-route'),
        ];
      }),
      admin.patch(`/v1/routes/${plain.id}`, change),
    ]);
    expect(statuses.filter(({ status }) => status >= 500)).toEqual([]);
  };
}
