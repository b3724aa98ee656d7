import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** NATS comes back with what it had, or with nothing of it. */
function natsStopped(fault: string, data: 'kept' | 'gone'): Scenario<FaultWorld> {
  return {
    fault,
    async run(world, outageMs) {
      const { stack } = world.gateway;
      const run = await world.begin(fault);
      await stack.nats.stop();
      await run.outage(outageMs);
      await run.repair(async () => {
        await stack.restartNats(data);
        await world.changeArrives();
        await run.keysTaken();
      });
      return run.finish({ keysRefused: Infinity });
    },
  };
}

export const natsRestarted = natsStopped('NATS stopped, started', 'kept');
export const natsEmptied = natsStopped('NATS stopped, started without its data', 'gone');
