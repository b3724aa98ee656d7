import { Agent } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startTestDataPath } from '../../test/data-path.ts';
import { startFailingUpstream } from '../../test/failing-upstream.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { send } from '../../test/send.ts';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const REQUESTS = 600;
const MINIMUM = 3;

/** Sends `REQUESTS` requests, each caller one after the other. Returns the status of each. */
async function offer(
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  callers: number,
): Promise<number[]> {
  const rate = {
    limit: 100_000,
    window_seconds: 3600,
    per: 'route' as const,
    on_store_unavailable: 'share' as const,
  };
  const gateway = opened(
    await startTestDataPath({ rate_limit: rate, timeout_ms: 60_000, ...route }),
  );
  const agent = new Agent({ keepAlive: true });
  opened({ destroy: () => agent.destroy() });
  const headers = { authorization: `Bearer ${gateway.token}` };
  const statuses: number[] = [];
  let left = REQUESTS;
  const call = async () => {
    while (left > 0) {
      left -= 1;
      const request = { method: 'GET', path: '/v1/proxy/test', headers, body: [], agent };
      statuses.push((await send(gateway.port, request)).status);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return statuses;
}

const retry = (backoffMs: number): SnapshotRoute['retry'] => ({
  on_statuses: [503],
  per_attempt_timeout_ms: null,
  backoff_ms: backoffMs,
  unsafe_methods: 'never',
});

describe('under load', () => {
  it.each([
    { callers: 8, retryCount: 1, backoffMs: 0 },
    { callers: 16, retryCount: 10, backoffMs: 0 },
    { callers: 64, retryCount: 3, backoffMs: 0 },
    { callers: 64, retryCount: 3, backoffMs: 5 },
  ])(
    'an upstream that always responds with 503 gets at most 1.2 attempts for each request: %j',
    async ({ callers, retryCount, backoffMs }) => {
      const upstream = opened(await startFailingUpstream('503'));
      const route = { upstreams: [upstream.url], retry_count: retryCount };
      const statuses = await offer({ ...route, retry: retry(backoffMs) }, callers);
      expect(statuses).toHaveLength(REQUESTS);
      expect(new Set(statuses)).toEqual(new Set([503]));
      expect(upstream.total).toBeLessThanOrEqual(1.2 * REQUESTS + MINIMUM);
      // Without any retry the bound would prove nothing.
      expect(upstream.total).toBeGreaterThan(1.05 * REQUESTS);
    },
    60_000,
  );

  it('no caller notices that one attempt in ten fails', async () => {
    let arrivals = 0;
    const upstream = opened(
      await startUpstream((_seen, response) => {
        arrivals += 1;
        response.writeHead(arrivals % 10 === 0 ? 503 : 200).end();
      }),
    );
    const route = { upstreams: [upstream.url], retry_count: 3, retry: retry(1) };
    const statuses = await offer(route, 16);
    expect(statuses.filter((status) => status !== 200)).toHaveLength(0);
  }, 60_000);
});
