import type { Server } from '@gateway/local-stack/process/managed-process';
import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** Rejects when the server ends: that tells more than what is not served without it. */
async function endOf({ process }: Server): Promise<never> {
  const exit = await process.exited;
  throw new Error(`NATS ended: ${JSON.stringify(exit)}, ${process.logs(5).join(' ')}`);
}

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
