import { eventually } from '@gateway/shared/test/eventually';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway, type GatewayOptions } from '../harness/gateway.ts';
import { startSwitchedUpstream, type SwitchedUpstream } from '../harness/switched-upstream.ts';

const testTimeoutMs = 90_000;
const intervalMs = 1000;
/** Tolerance for processes on a busy machine. */
const slackMs = 500;

describe('the status of a service', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  });

  async function start(options: GatewayOptions): Promise<Gateway> {
    const gateway = await startGateway(options);
    undo.push(() => gateway.close());
    return gateway;
  }

  async function upstreams(...names: string[]): Promise<SwitchedUpstream[]> {
    const all = await Promise.all(names.map((name) => startSwitchedUpstream(name)));
    undo.push(() => Promise.all(all.map((one) => one.stop())));
    return all;
  }

  const serviceAt = (gateway: Gateway, all: readonly SwitchedUpstream[]) =>
    gateway.service({
      url: undefined,
      upstreams: all.map(({ url }) => ({ url })),
      health_check: { interval_ms: intervalMs, timeout_ms: 500 },
    });

  async function statusWithin(
    gateway: Gateway,
    id: string,
    status: string,
    deadlineMs: number,
  ): Promise<void> {
    const read = async () => (await gateway.admin.get(`/v1/services/${id}`)).resource()['status'];
    await eventually(async () => expect(await read()).toBe(status), { deadlineMs });
  }

  it(
    'follows its upstreams within two intervals, in GET by id and in the list',
    async () => {
      const gateway = await start({ dataPlanes: 2 });
      const [one, other] = await upstreams('one', 'other');
      if (one === undefined || other === undefined) throw new Error('no upstreams');
      const { id, ...made } = await serviceAt(gateway, [one, other]);
      expect(made['status']).toBe('unknown');
      const within = (status: string) =>
        statusWithin(gateway, id, status, 2 * intervalMs + slackMs);
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
    'ignores a data plane that was killed, and is unknown if none is left',
    async () => {
      const gateway = await start({ dataPlanes: 1 });
      const [one] = await upstreams('one');
      if (one === undefined) throw new Error('no upstream');
      const { id } = await serviceAt(gateway, [one]);
      await statusWithin(gateway, id, 'healthy', 10_000);
      const blind = await gateway.stack.startDataPlane({
        env: { UPSTREAM_DENY_CIDRS: '127.0.0.0/8' },
      });
      await statusWithin(gateway, id, 'degraded', 10_000);
      process.kill(blind.pid, 'SIGKILL');
      // It still counts until it has missed three heartbeats.
      await statusWithin(gateway, id, 'healthy', 3 * 2000 + 1000);

      const managed = gateway.admin.at(gateway.controlPlane.baseUrl);
      const [dataPlane] = gateway.dataPlanes;
      if (dataPlane === undefined) throw new Error('no data plane');
      await dataPlane.stop();
      await eventually(async () => {
        const service = (await managed.get(`/v1/services/${id}`)).resource();
        expect(service['status']).toBe('unknown');
      });
    },
    testTimeoutMs,
  );

  it(
    'is the same at every control plane, including one that has just started',
    async () => {
      const gateway = await start({ dataPlanes: 1 });
      const all = await upstreams('one', 'other');
      const { id } = await serviceAt(gateway, all);
      await all[0]?.stop();
      await statusWithin(gateway, id, 'degraded', 10_000);
      const second = await gateway.stack.startControlPlane({ name: 'second' });
      const client = gateway.admin.at(second.baseUrl);
      await eventually(
        async () => {
          const service = (await client.get(`/v1/services/${id}`)).resource();
          expect(service['status']).toBe('degraded');
        },
        { deadlineMs: 1500 },
      );
    },
    testTimeoutMs,
  );
});
