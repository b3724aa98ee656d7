import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';
import { percentile } from '../harness/figures.ts';

const startTimeoutMs = 60_000;
const changes = 50;
const longestMs = 10_000;

describe('a published change', () => {
  let gateway: BorrowedGateway;

  beforeAll(async () => {
    gateway = await borrowGateway();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  /**
   * Time from now until every data plane answers a GET with this `Allow`, ms. The route does not
   * accept GET, so a probe gets 405 and does not reach the upstream.
   */
  async function servedAfterMs(route: string, allow: string): Promise<number> {
    const startedMs = performance.now();
    const waits = gateway.dataPlanes.map(async ({ baseUrl }) => {
      const client = gateway.admin.at(baseUrl);
      const served = async () => {
        const answer = await client.proxy(route, { method: 'GET' });
        if (answer.headers.get('allow') !== allow) throw new Error(`not yet: ${answer.status}`);
      };
      await eventually(served, { deadlineMs: longestMs, intervalMs: 5 });
      return performance.now() - startedMs;
    });
    return Math.max(...(await Promise.all(waits)));
  }

  it(
    'reaches every data plane soon after its 2xx, for new and for changed routes',
    async () => {
      const { admin } = gateway;
      const service = await gateway.service();
      const changed = await gateway.route({
        name: 'changed',
        service_id: service.id,
        methods: ['PUT'],
      });
      const latenciesMs: number[] = [];
      for (let change = 0; change < changes / 2; change += 1) {
        const name = `new-${change}`;
        const made = await admin.post('/v1/routes', {
          name,
          service_id: service.id,
          methods: ['POST'],
        });
        expect(made.status).toBe(201);
        latenciesMs.push(await servedAfterMs(name, 'POST'));

        const method = change % 2 === 0 ? 'PATCH' : 'DELETE';
        const patched = await admin.patch(`/v1/routes/${changed.id}`, { methods: [method] });
        expect(patched.status).toBe(200);
        latenciesMs.push(await servedAfterMs('changed', method));
      }
      const [median, p95, max] = [0.5, 0.95, 1].map((rank) => percentile(latenciesMs, rank));
      process.stderr.write(
        `publish latency over ${changes} changes, ${gateway.dataPlanes.length} data planes: ` +
          `median ${median?.toFixed(1)} ms, p95 ${p95?.toFixed(1)} ms, max ${max?.toFixed(1)} ms\n`,
      );
      expect(latenciesMs).toHaveLength(changes);
      expect(median).toBeLessThan(1000);
    },
    startTimeoutMs,
  );
});
