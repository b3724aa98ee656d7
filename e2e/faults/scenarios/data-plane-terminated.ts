import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

export const dataPlaneTerminated: Scenario<FaultWorld> = {
  fault: 'data plane ended by SIGTERM, beside a second one',
  async run(world, outageMs) {
    const targets = world.dataPlanes.map(({ baseUrl }) => baseUrl);
    const run = await world.begin(this.fault, { targets });
    const [ending] = world.dataPlanes;
    const exit = await ending?.stop();
    run.expectations.hold(exit?.code === 0, `it exited with ${JSON.stringify(exit)}`);
    const last = run.load.answers.filter(({ target }) => target === ending?.baseUrl).slice(-2);
    const announced = last.length === 2 && last.every(({ closes }) => closes);
    run.expectations.hold(announced, 'it did not announce the end of each connection');
    await run.outage(outageMs);
    await run.repair(async () => {
      await world.restartDataPlane(0);
      await world.changeArrives();
    });
    return run.finish();
  },
};
