import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

export const controlPlaneKilled: Scenario<FaultWorld> = {
  fault: 'control plane killed, restarted',
  async run(world, outageMs) {
    const run = await world.begin(this.fault);
    await world.controlPlane.stop('SIGKILL');
    await run.outage(outageMs);
    await run.repair(async () => {
      await world.restartControlPlane();
      await world.changeArrives();
    });
    return run.finish();
  },
};
