import { eventually } from '@gateway/shared/test/eventually';
import type { FaultWorld } from '../harness/fault-world.ts';
import type { Scenario } from '../harness/scenario.ts';

const REPAIR = { deadlineMs: 60_000, intervalMs: 50 };

export const postgresStopped: Scenario<FaultWorld> = {
  fault: 'Postgres stopped, started',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const run = await world.begin(this.fault);
    await stack.postgres?.stop();
    const statuses = new Set<string>();
    const asking = { ended: false };
    const ask = async () => {
      while (!asking.ended) {
        const { status, headers } = await world.management.call('GET', '/v1/services');
        statuses.add(`${status} Retry-After: ${headers.get('retry-after') ?? 'none'}`);
      }
    };
    const asked = ask();
    await run.outage(outageMs);
    asking.ended = true;
    await asked;
    const answers = [...statuses].join(', ');
    run.expectations.hold(answers === '503 Retry-After: 1', `management answered ${answers}`);
    await run.repair(async () => {
      await stack.restartPostgres();
      await eventually(async () => {
        const { status } = await world.management.get('/v1/services');
        if (status !== 200) throw new Error(`management answers ${status}`);
      }, REPAIR);
      await world.changeArrives();
    });
    return run.finish();
  },
};
