import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { SHORT_QUOTA, shareQuotas } from '../harness/quota-shares.ts';
import { startLoad, type Load, type LoadAnswer, type LoadOptions } from '../harness/load.ts';

const testTimeoutMs = 90_000;
const callers = 20;
const maxCalls = 5000;
/** Deadline for the records of a load, which may still be in transit when it ends. */
const recordsMs = 20_000;

describe('SIGTERM under load', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
    await gateway.route({
      name: 'slow',
      upstreamPath: '/slow/200',
      rate_limit: SHORT_QUOTA,
    });
    await gateway.route({ name: 'long', upstreamPath: '/slow/2500' });
    await gateway.route({ name: 'endless', upstreamPath: '/slow/60000', timeout_ms: 60_000 });
    await gateway.settled();
  }, testTimeoutMs);
  afterAll(() => gateway.close());

  const loadOf = (client: Client, path: string, more: Partial<LoadOptions> = {}) =>
    startLoad({
      url: client.baseUrl + path,
      token: client.token,
      callers,
      maxCalls,
      body: () => ({}),
      ...more,
    });
  const whenRunning = (load: Load) =>
    eventually(() => {
      expect(load.answers.length).toBeGreaterThan(3 * callers);
      expect(load.inFlight).toBe(callers);
    });

  const whenSeen = (url: string) =>
    eventually(() => expect(gateway.upstream.seen.map((one) => one.url)).toContain(url));

  async function expectRecords(
    answers: readonly Pick<LoadAnswer, 'requestId'>[],
    route: string,
  ): Promise<void> {
    const wanted = answers.map(({ requestId }) => requestId);
    const management = gateway.admin.at(gateway.controlPlane.baseUrl);
    await eventually(
      async () => {
        const found = new Set<string>();
        let query: string | undefined = '';
        while (query !== undefined) {
          const page = (
            await management.get(`/v1/requests?route=${route}&limit=200${query}`)
          ).page();
          for (const { id } of page.data) found.add(id);
          query = page.next_cursor === null ? undefined : `&cursor=${page.next_cursor}`;
        }
        expect(wanted.filter((id) => !found.has(id))).toEqual([]);
      },
      { deadlineMs: recordsMs, intervalMs: 200 },
    );
  }

  it(
    'a data plane finishes its requests, loses no response and no record, and exits with 0 in time',
    async () => {
      // A caller that is stopped on a busy machine must still find its connection open.
      const env = { DRAIN_GRACE_MS: '2000' };
      const dataPlane = await gateway.stack.startDataPlane({ env });
      const client = gateway.admin.at(dataPlane.baseUrl);
      const load = loadOf(client, '/v1/proxy/slow');
      const long = client.proxy('long');
      await whenRunning(load);
      await whenSeen('/slow/2500');
      const before = load.answers.length;
      const startedMs = performance.now();
      const exit = await dataPlane.stop();
      const tookMs = performance.now() - startedMs;
      await load.ended;
      process.stderr.write(
        `SIGTERM under ${callers} callers: data plane exited after ${tookMs.toFixed(0)} ms, ` +
          `${load.answers.length - before} answers since, ${load.answers.length} in all\n`,
      );
      expect(exit).toEqual({ code: 0, signal: null });
      expect(tookMs).toBeLessThan(10_000);
      const { status, headers } = await long;
      expect(status).toBe(200);
      expect(load.answers.length - before).toBeGreaterThanOrEqual(callers);
      expect(new Set(load.answers.map(({ status }) => status))).toEqual(new Set([200]));
      // No call was interrupted: callers ended because the port is closed.
      expect(new Set(load.failures)).toEqual(new Set(['ECONNREFUSED']));
      await expectRecords(load.answers, 'slow');
      await expectRecords([{ requestId: headers.get('x-request-id') ?? '' }], 'long');
    },
    testTimeoutMs,
  );

  it(
    'a data plane cancels requests that take too long, logs this, and still exits with 0',
    async () => {
      const env = { DRAIN_TIMEOUT_MS: '1000' };
      const dataPlane = await gateway.stack.startDataPlane({ env });
      const cut = expect(gateway.admin.at(dataPlane.baseUrl).proxy('endless')).rejects.toThrow();
      await whenSeen('/slow/60000');
      const startedMs = performance.now();
      expect(await dataPlane.stop()).toEqual({ code: 0, signal: null });
      expect(performance.now() - startedMs).toBeLessThan(5000);
      await cut;
      await eventually(async () => {
        const { data } = (await gateway.admin.get('/v1/requests?route=endless')).page();
        expect(data).toMatchObject([
          { outcome: 'rejected', error_code: 'gateway_stopping', status: null },
        ]);
      });
    },
    testTimeoutMs,
  );

  it(
    'a data plane keeps its records for its next start if NATS is down',
    async () => {
      const name = 'spooling';
      const first = await gateway.stack.startDataPlane({ name });
      await shareQuotas([...gateway.dataPlanes, first]);
      await gateway.stack.nats.stop();
      const client = gateway.admin.at(first.baseUrl);
      const load = loadOf(client, '/v1/proxy/slow', { maxCalls: 5 * callers });
      await load.ended;
      expect(load.answers.map(({ status }) => status)).toEqual(Array(5 * callers).fill(200));
      expect(await first.stop()).toEqual({ code: 0, signal: null });
      await gateway.stack.restartNats();
      await gateway.stack.startDataPlane({ name });
      await expectRecords(load.answers, 'slow');
    },
    testTimeoutMs,
  );

  it(
    'a control plane finishes its calls, loses no change and no record, and exits with 0 in time',
    async () => {
      const second = await gateway.stack.startControlPlane();
      const client = gateway.admin.at(second.baseUrl);
      const { id } = await gateway.service();
      const body = (call: number) => ({ name: `made-${call}`, service_id: id });
      const load = loadOf(client, '/v1/routes', { body });
      const traffic = loadOf(gateway.admin, '/v1/proxy/slow', { callers: 2, maxCalls: 60 });
      await whenRunning(load);
      const startedMs = performance.now();
      expect(await second.stop()).toEqual({ code: 0, signal: null });
      expect(performance.now() - startedMs).toBeLessThan(10_000);
      await load.ended;
      expect(new Set(load.answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(load.failures)).toEqual(new Set(['ECONNREFUSED']));
      await gateway.settled();
      for (const { body: made } of load.answers) {
        const { name } = (JSON.parse(made) as { data: { name: string } }).data;
        expect((await gateway.admin.proxy(name)).status).toBe(200);
      }
      await traffic.ended;
      expect(traffic.failures).toEqual([]);
      await expectRecords(traffic.answers, 'slow');
    },
    testTimeoutMs,
  );
});
