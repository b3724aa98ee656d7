import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { startSwitchedUpstream, type SwitchedUpstream } from '../harness/switched-upstream.ts';

const testTimeoutMs = 90_000;
const intervalMs = 1000;
/** Tolerance for processes on a busy machine. */
const slackMs = 500;

describe('the status of a service', () => {
  const undo = new UndoList();
  let gateway: Gateway;
  beforeAll(async () => void (gateway = await startGateway({ dataPlanes: 2 })), testTimeoutMs);
  afterEach(async () => {
    await undo.run();
  });
  afterAll(() => gateway.close());

  async function upstreams(...names: string[]): Promise<SwitchedUpstream[]> {
    const all = await Promise.all(names.map((name) => startSwitchedUpstream(name)));
    undo.add(() => Promise.all(all.map((one) => one.stop())));
    return all;
  }

  const serviceAt = (all: readonly SwitchedUpstream[]) =>
    gateway.service({
      url: undefined,
      upstreams: all.map(({ url }) => ({ url })),
      health_check: { interval_ms: intervalMs, timeout_ms: 500 },
    });

  async function statusWithin(id: string, status: string, deadlineMs: number): Promise<void> {
    const read = async () => (await gateway.admin.get(`/v1/services/${id}`)).resource()['status'];
    await eventually(async () => expect(await read()).toBe(status), { deadlineMs });
  }

  it(
    'follows its upstreams within two intervals, in GET by id and in the list',
    async () => {
      const [one, other] = await upstreams('one', 'other');
      if (one === undefined || other === undefined) throw new Error('no upstreams');
      const { id, ...made } = await serviceAt([one, other]);
      expect(made['status']).toBe('unknown');
      const within = (status: string) => statusWithin(id, status, 2 * intervalMs + slackMs);
      await within('healthy');
      const { data } = (await gateway.admin.get('/v1/services')).page();
      expect(data.find((service) => service.id === id)?.['status']).toBe('healthy');
      await one.stop();
      await within('degraded');
      await other.stop();
      await within('unhealthy');
      await one.start();
      await within('degraded');
      await other.start();
      await within('healthy');
    },
    testTimeoutMs,
  );

  it(
    'is the same at every control plane, including one that has just started',
    async () => {
      const all = await upstreams('one', 'other');
      const { id } = await serviceAt(all);
      await all[0]?.stop();
      await statusWithin(id, 'degraded', 10_000);
      const second = await gateway.stack.startControlPlane({ name: 'second' });
      const client = gateway.admin.at(second.baseUrl);
      await eventually(async () => {
        const service = (await client.get(`/v1/services/${id}`)).resource();
        expect(service['status']).toBe('degraded');
      });
      await second.stop();
    },
    testTimeoutMs,
  );

  it(
    'ignores a data plane that was killed, and is unknown if none is left',
    async () => {
      const [one] = await upstreams('one');
      if (one === undefined) throw new Error('no upstream');
      const { id } = await serviceAt([one]);
      await statusWithin(id, 'healthy', 10_000);
      const blind = await gateway.stack.startDataPlane({
        env: { UPSTREAM_DENY_CIDRS: '127.0.0.0/8' },
      });
      await statusWithin(id, 'degraded', 10_000);
      process.kill(blind.pid, 'SIGKILL');
      // It still counts until it has missed three heartbeats.
      await statusWithin(id, 'healthy', 3 * 2000 + 10_000);

      const managed = gateway.admin.at(gateway.controlPlane.baseUrl);
      await Promise.all(gateway.dataPlanes.map((dataPlane) => dataPlane.stop()));
      await eventually(async () => {
        const service = (await managed.get(`/v1/services/${id}`)).resource();
        expect(service['status']).toBe('unknown');
      });
    },
    testTimeoutMs,
  );
});
