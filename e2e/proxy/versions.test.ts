import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';
import { startLoad, type LoadAnswer } from '../harness/load.ts';

const startTimeoutMs = 60_000;
const loadTimeoutMs = 60_000;

describe('versions of a route, at two data planes', () => {
  let gateway: BorrowedGateway;
  const upstreams: TestUpstream[] = [];
  const services: Record<string, string> = {};

  beforeAll(async () => {
    gateway = await borrowGateway();
    for (const name of ['v1', 'v2']) {
      const upstream = await startUpstream((_seen, response) => response.end(name));
      upstreams.push(upstream);
      services[name] = (await gateway.service({ url: upstream.url })).id;
    }
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    for (const upstream of upstreams) await upstream.close();
  });

  const weigh = (v1: number, v2: number) => [
    { name: 'v1', service_id: services['v1'], weight: v1 },
    { name: 'v2', service_id: services['v2'], weight: v2 },
  ];

  /** Creates a route with the two versions, and waits until every data plane serves it. */
  async function split(name: string, v1: number, v2: number, fields: object = {}): Promise<string> {
    const body = { name, versions: weigh(v1, v2), ...fields };
    const { id } = await gateway.admin.create('/v1/routes', body);
    await gateway.settled();
    return id;
  }

  const callerOf = (index: number): Client => {
    const plane = gateway.dataPlanes[index % gateway.dataPlanes.length];
    return gateway.admin.at(plane?.baseUrl ?? '');
  };

  it('give a caller the same version on every data plane', async () => {
    await split('sticky', 50, 50);
    const callers = await Promise.all(Array.from({ length: 8 }, () => gateway.tokenClient()));
    await gateway.settled();
    for (const { token } of callers) {
      const answers = new Set<string>();
      for (let request = 0; request < 6; request += 1) {
        const answer = await callerOf(request).withToken(token).proxy('sticky');
        expect(answer.status).toBe(200);
        answers.add(answer.body);
      }
      expect(answers.size).toBe(1);
    }
  });

  it(
    'lose no request while a canary grows and is rolled back under load',
    async () => {
      const rate_limit = { limit: 1_000_000, window_seconds: 60 };
      const id = await split('moving', 100, 0, { rate_limit });
      const secrets: string[] = [];
      for (let caller = 0; caller < 20; caller += 1) {
        secrets.push((await gateway.tokenClient({ routes: ['moving'] })).token);
      }
      await gateway.settled();
      const state = { done: false };
      const loads = secrets.map((token, index) =>
        startLoad({
          url: `${callerOf(index).baseUrl}/v1/proxy/moving`,
          token,
          callers: 1,
          // The steps below limit the load; this limit is only for a broken test.
          maxCalls: 20_000,
          body: (call) => ({ call }),
          ended: () => state.done,
        }),
      );
      const answers = (): readonly LoadAnswer[] => loads.flatMap((load) => load.answers);
      /** How many callers get v2, according to the last response of each. */
      const onV2 = () => loads.filter((load) => load.answers.at(-1)?.body === 'v2').length;
      const seen: number[] = [];
      try {
        for (const [v1, v2] of [
          [100, 0],
          [50, 50],
          [0, 100],
          [100, 0],
        ] as const) {
          const changed = await gateway.admin.patch(`/v1/routes/${id}`, {
            versions: weigh(v1, v2),
          });
          expect(changed.status).toBe(200);
          const before = answers().length;
          await eventually(() => {
            // Each caller has received responses since, and they follow the new weights.
            expect(answers().length).toBeGreaterThan(before + 20 * loads.length);
            if (v1 === 0) expect(onV2()).toBe(loads.length);
            else if (v2 === 0) expect(onV2()).toBe(0);
            else expect([onV2() > 0, onV2() < loads.length]).toEqual([true, true]);
          });
          seen.push(onV2());
        }
      } finally {
        state.done = true;
        await Promise.all(loads.map((load) => load.ended));
      }
      expect(loads.flatMap((load) => load.failures)).toEqual([]);
      expect(new Set(answers().map(({ status }) => status))).toEqual(new Set([200]));
      expect(seen[0]).toBe(0);
      expect(answers().length).toBeGreaterThan(1000);
    },
    loadTimeoutMs,
  );
});
