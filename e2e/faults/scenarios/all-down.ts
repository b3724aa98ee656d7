import { eventually } from '@gateway/shared/test/eventually';
import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

const SERVED = { deadlineMs: 30_000, intervalMs: 20 };
const PROBES = 10;

export const allDown: Scenario<FaultWorld> = {
  fault: 'control plane, Postgres and NATS down, a data plane restarted',
  async run(world, outageMs) {
    const { stack, admin } = world.gateway;
    const targets = world.dataPlanes.map(({ baseUrl }) => baseUrl);
    const run = await world.begin(this.fault, { targets });
    await world.controlPlane.stop('SIGKILL');
    await stack.postgres?.stop();
    await stack.nats.stop();
    await run.outage(outageMs / 2);
    await world.dataPlanes[0]?.stop();

    const startedMs = performance.now();
    const started = await world.restartDataPlane(0, { waitForReady: false });
    const client = admin.at(started.baseUrl);
    await eventually(async () => {
      const { status } = await client.proxy(run.getRoute, { method: 'GET' });
      if (status !== 200) throw new Error(`the response is ${status}`);
    }, SERVED);
    const servedMs = performance.now() - startedMs;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const { status } = await client.proxy(run.getRoute, { method: 'GET' });
      run.expectations.hold(
        status === 200,
        `the response is ${status} after earlier requests were served`,
      );
    }
    const ready = await fetch(`${started.adminUrl}/readyz`);
    const body = await ready.text();
    const saysSo = ready.status === 200 && body.includes('degraded') && body.includes('NATS');
    run.expectations.hold(saysSo, `/readyz responded ${ready.status} ${body}`);

    await run.outage(outageMs / 2);
    await run.repair(async () => {
      await Promise.all([stack.restartPostgres(), stack.restartNats()]);
      await world.restartControlPlane();
      await world.changeArrives();
      await run.keysTaken();
    });
    const note = `served ${(servedMs / 1000).toFixed(1)} s after its start`;
    return run.finish({ keysRefused: Infinity }, note);
  },
};
