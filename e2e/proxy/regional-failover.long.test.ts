import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { startSteadyLoad, type SteadyLoad } from './steady-load.ts';
import { startSwitchedUpstream, type SwitchedUpstream } from '../harness/switched-upstream.ts';

const testTimeoutMs = 120_000;
const patient = { deadlineMs: 30_000 };
const intervalMs = 1000;
/** Callers at each of the two data planes. */
const perSecond = 100;
/** Latency, so that the upstreams have requests in flight when they stop. */
const latencyMs = 25;

describe('regional failover', () => {
  const undo = new UndoList();
  let gateway: Gateway;
  /** The base URLs of the two data planes. */
  let euUrl: string;
  let usUrl: string;

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 0 });
    const { stack } = gateway;
    ({ baseUrl: euUrl } = await stack.startDataPlane({ name: 'eu', env: { REGION: 'eu' } }));
    ({ baseUrl: usUrl } = await stack.startDataPlane({ name: 'us', env: { REGION: 'us' } }));
  }, testTimeoutMs);
  afterEach(async () => {
    await undo.run();
  });
  afterAll(() => gateway.close());

  async function upstreams(region: string, count: number): Promise<SwitchedUpstream[]> {
    const names = Array.from({ length: count }, (_, index) => `${region}-${index}`);
    const all = await Promise.all(names.map((name) => startSwitchedUpstream(name, latencyMs)));
    undo.add(() => Promise.all(all.map((one) => one.stop())));
    return all;
  }

  async function recordOf(id: string) {
    return eventually(async () => {
      const answer = await gateway.admin.get(`/v1/requests/${id}`);
      expect(answer.status).toBe(200);
      return answer.resource() as unknown as {
        upstream: { region: string };
        retry_count: number;
        attempts: { region: string; error?: string; status?: number }[];
      };
    });
  }

  it.each([
    [2, 2],
    [3, 1],
  ])(
    'with %i upstreams in eu and %i in us: no caller sees the end of eu, and its traffic comes back',
    async (inEu, inUs) => {
      const eu = await upstreams('eu', inEu);
      const us = await upstreams('us', inUs);
      const at = (region: string, all: SwitchedUpstream[]) =>
        all.map(({ url }) => ({ url, region }));
      const service = await gateway.service({
        url: undefined,
        upstreams: [...at('eu', eu), ...at('us', us)],
        health_check: { interval_ms: intervalMs, timeout_ms: 500 },
      });
      const route = `orders-${inEu}`;
      await gateway.route({ name: route, service_id: service.id, regions: ['us'] });
      for (const baseUrl of [euUrl, usUrl]) {
        await eventually(async () => {
          const answer = await gateway.admin.at(baseUrl).proxy(route, { method: 'GET' });
          expect(answer.status).toBe(200);
        });
      }
      await eventually(async () => {
        const shown = (await gateway.admin.get(`/v1/services/${service.id}`)).resource();
        expect(shown['status']).toBe('healthy');
      });

      const loads = [euUrl, usUrl].map((baseUrl) =>
        startSteadyLoad({
          url: `${baseUrl}/v1/proxy/${route}`,
          token: gateway.admin.token,
          perSecond,
          maxSeconds: 40,
        }),
      );
      undo.add(() => Promise.all(loads.map((load) => load.stop())));
      const [euLoad, usLoad] = loads as [SteadyLoad, SteadyLoad];
      const since = (load: SteadyLoad, ms: number) =>
        load.answers.filter((one) => one.sentAtMs >= ms);
      const regions = (answers: readonly { upstreamName: string }[]) =>
        new Set(answers.map((one) => one.upstreamName.slice(0, 2)));
      await eventually(() => expect(euLoad.answers.length).toBeGreaterThan(2 * perSecond), patient);
      expect(regions(euLoad.answers)).toEqual(new Set(['eu']));
      expect(regions(usLoad.answers)).toEqual(new Set(['us']));

      const stoppedMs = performance.now();
      await Promise.all(eu.map((one) => one.stop()));
      await eventually(
        () => expect(since(euLoad, stoppedMs + 2000).length).toBeGreaterThan(2 * perSecond),
        patient,
      );
      const notServed = () =>
        loads.flatMap((load) => load.answers.filter((one) => one.status !== 200));
      expect(notServed()).toEqual([]);
      const late = since(euLoad, stoppedMs + 2000);
      expect(regions(late)).toEqual(new Set(['us']));
      const lateRecord = await recordOf(late[0]?.requestId ?? '');
      expect(lateRecord.attempts).toMatchObject([{ region: 'us', status: 200 }]);

      // The records of requests that noticed the end of eu have each attempt with its region.
      let moved: Awaited<ReturnType<typeof recordOf>> | undefined;
      for (const { requestId } of since(euLoad, stoppedMs - 1000).slice(0, 4 * perSecond)) {
        moved = await recordOf(requestId);
        if (moved.attempts.at(0)?.region === 'eu' && moved.retry_count > 0) break;
      }
      expect(moved?.attempts.at(0)).toMatchObject({ region: 'eu' });
      expect(moved?.attempts.at(0)).toHaveProperty('error');
      expect(moved?.attempts.at(-1)).toMatchObject({ region: 'us', status: 200 });

      const startedMs = performance.now();
      await Promise.all(eu.map((one) => one.start()));
      const backMs = startedMs + 3 * intervalMs;
      await eventually(
        () => expect(since(euLoad, backMs).length).toBeGreaterThan(perSecond),
        patient,
      );
      expect(regions(since(euLoad, backMs))).toEqual(new Set(['eu']));
      await Promise.all(loads.map((load) => load.stop()));
      expect(notServed()).toEqual([]);
      expect(regions(usLoad.answers)).toEqual(new Set(['us']));
    },
    testTimeoutMs,
  );
});
