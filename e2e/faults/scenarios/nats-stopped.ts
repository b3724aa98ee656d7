import type { Server } from '@gateway/local-stack/process/managed-process';
import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** Rejects when the server ends, which is a better message than the failures that follow. */
async function endOf({ process }: Server): Promise<never> {
  const exit = await process.exited;
  throw new Error(`NATS ended: ${JSON.stringify(exit)}, ${process.logs(5).join(' ')}`);
}

/** NATS comes back with its data or without. */
function natsStopped(fault: string, data: 'kept' | 'gone'): Scenario<FaultWorld> {
  return {
    fault,
    async run(world, outageMs) {
      const { stack } = world.gateway;
      const run = await world.begin(fault);
      await stack.nats.stop();
      await run.outage(outageMs);
      await run.repair(async () => {
        const nats = await stack.restartNats(data);
        const served = world.changeArrives().then(() => run.keysTaken());
        await Promise.race([served, endOf(nats)]);
      });
      return run.finish({ keysRefused: Infinity });
    },
  };
}

export const natsRestarted = natsStopped('NATS stopped, started', 'kept');
export const natsEmptied = natsStopped('NATS stopped, started without its data', 'gone');
