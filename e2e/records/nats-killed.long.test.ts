import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const testTimeoutMs = 120_000;
const callers = 8;
/** How long NATS runs before each kill, and how long it is down afterwards, ms. */
const kills = [
  { runsMs: 500, awayMs: 300 },
  { runsMs: 1200, awayMs: 900 },
  { runsMs: 1900, awayMs: 1500 },
  { runsMs: 500, awayMs: 300 },
  { runsMs: 1200, awayMs: 900 },
] as const;

describe('the records of a data plane whose NATS is killed and started again', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.route({ name: 'orders' });
    await gateway.settled();
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  async function metricOf(adminUrl: string, name: string): Promise<number> {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  }

  it(
    'are readable five seconds after its last return, and few are sent twice',
    async () => {
      const ids: string[] = [];
      let over = false;
      const load = Array.from({ length: callers }, async () => {
        while (!over) {
          const { headers } = await gateway.admin.proxy('orders');
          ids.push(headers.get('x-request-id') ?? '');
          await sleep(20);
        }
      });
      for (const { runsMs, awayMs } of kills) {
        await sleep(runsMs);
        await gateway.stack.nats.process.stop('SIGKILL');
        await sleep(awayMs);
        await gateway.stack.restartNats();
      }
      over = true;
      await Promise.all(load);
      // Read one by one, the records would take longer than that.
      const name = 'gateway_control_plane_ingest_records_total';
      const stored = () => metricOf(gateway.controlPlane.adminUrl, name);
      await eventually(async () => expect(await stored()).toBeGreaterThanOrEqual(ids.length), {
        deadlineMs: 5000,
      });
      for (const id of ids) {
        expect((await gateway.admin.get(`/v1/requests/${id}`)).status).toBe(200);
      }
      for (const { adminUrl } of gateway.dataPlanes) {
        const again = await metricOf(adminUrl, 'gateway_records_sent_again_total');
        expect(again).toBeLessThan(ids.length / 20);
      }
    },
    testTimeoutMs,
  );
});
