import type { FaultWorld } from '../harness/fault-world.ts';
import { isFailed, type LoadAnswer } from '../harness/client-load.ts';
import type { Scenario } from '../harness/scenario.ts';

/** Maximum age of a lost record: a batch waits for 50 ms, and a busy machine adds a delay. */
const LOSABLE_MS = 250;
/** For the records that are not lost. */
const RECORDS_MS = 6000;
/** Each client has at most one request in flight. */
const CLIENTS = 2;

export const dataPlaneKilled: Scenario<FaultWorld> = {
  fault: 'data plane killed, beside a second one',
  async run(world, outageMs) {
    const targets = world.dataPlanes.map(({ baseUrl }) => baseUrl);
    const run = await world.begin(this.fault, { targets, recordsMs: RECORDS_MS });
    const { answers } = run.load;
    const [killed] = world.dataPlanes;
    const killedAtMs = performance.now();
    await killed?.stop('SIGKILL');
    const goneAtMs = performance.now();
    await run.outage(outageMs);
    await run.repair(async () => {
      await world.restartDataPlane(0);
      await world.changeArrives();
    });
    const cut = answers.filter(
      ({ sentAtMs, target }) => sentAtMs <= goneAtMs && target === killed?.baseUrl,
    );
    const others = answers.filter((one) => isFailed(one) && !cut.includes(one)).length;
    run.expectations.hold(
      others === 0,
      `${others} requests failed although they were not in flight`,
    );
    const losable = answers.filter(
      ({ endedAtMs }) =>
        endedAtMs >= killedAtMs - LOSABLE_MS && endedAtMs <= killedAtMs + LOSABLE_MS,
    );
    const describe = (lost: readonly LoadAnswer[]) => {
      const ages = lost.map(({ endedAtMs }) => killedAtMs - endedAtMs);
      const oldest = Math.max(0, ...ages);
      run.expectations.hold(oldest <= LOSABLE_MS, `a lost record was ${oldest} ms old`);
      return `lost: records of the last ${Math.max(0, oldest).toFixed(0)} ms`;
    };
    return run.finish({ failed: CLIENTS, recordsLost: losable.length }, describe);
  },
};
