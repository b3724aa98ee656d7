import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

/** How long after its acknowledgement a data plane still has a batch, less what it waits before it is sent. */
const KEPT_MS = 4500;
/** Answers of each client whose records NATS has, and nobody else but the data planes. */
const UNREAD_ANSWERS = 10;

/** Without a control plane that reads them, records are in NATS alone when its data go. */
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
    // None, unless this machine took long for what comes before.
    const tooOld = run.load.answers.filter(
      ({ endedAtMs }) => endedAtMs >= killedAtMs && endedAtMs < stoppedAtMs - KEPT_MS,
    );
    return run.finish({ keysRefused: Infinity, recordsLost: tooOld.length });
  },
};
