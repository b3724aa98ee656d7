import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { burst } from '../harness/burst.ts';
import { metric } from '../harness/figures.ts';

const testTimeoutMs = 60_000;

describe('a NATS that stands still for a moment', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  it('refuses no request of a quota of which the data plane has no share in the current window', async () => {
    // The window began before the data plane started.
    const rate_limit = { limit: 60_000, window_seconds: 86_400 };
    const { name } = await gateway.route({ rate_limit });
    await gateway.settled();
    const { pid } = gateway.stack.nats;
    const [dataPlane] = gateway.dataPlanes;
    const failed = 'gateway_quota_refills_total{result="failed"}';
    process.kill(pid, 'SIGSTOP');
    const answers = burst(gateway.admin, String(name), 20);
    // As soon as the data plane no longer waits for an answer of NATS. The requests wait two seconds more for it.
    await eventually(async () =>
      expect(await metric(String(dataPlane?.adminUrl), failed)).toBeGreaterThan(0),
    ).finally(() => process.kill(pid, 'SIGCONT'));
    expect((await answers).map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});
