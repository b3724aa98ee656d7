import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** How long a data plane keeps a batch after its acknowledgement, less the wait before it is sent. */
const KEPT_MS = 4500;
/** Responses of each client whose records only NATS and the data planes have. */
const UNREAD_ANSWERS = 10;

/** Without a control plane that reads them, records are only in NATS when its data is lost. */
export const natsLostUnread: Scenario<FaultWorld> = {
  fault: 'control plane killed, then NATS stopped, both started, NATS without its data',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const run = await world.begin(this.fault);
    const killedAtMs = performance.now();
    await world.controlPlane.stop('SIGKILL');
    await run.load.more(UNREAD_ANSWERS);
    await stack.nats.stop();
    const stoppedAtMs = performance.now();
    await run.outage(outageMs);
    await run.repair(async () => {
      await stack.restartNats('gone');
      await world.restartControlPlane();
      await world.changeArrives();
      await run.keysTaken();
    });
    // None, unless the machine was too slow before this point.
    const tooOld = run.load.answers.filter(
      ({ endedAtMs }) => endedAtMs >= killedAtMs && endedAtMs < stoppedAtMs - KEPT_MS,
    );
    return run.finish({ keysRefused: Infinity, recordsLost: tooOld.length });
  },
};
