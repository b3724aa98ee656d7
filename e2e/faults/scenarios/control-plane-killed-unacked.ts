import { holdRecords } from '@gateway/testing/hold-records';
import { eventually } from '@gateway/shared/test/eventually';
import { metric } from '../../harness/figures.ts';
import type { FaultWorld } from '../harness/fault-world.ts';
import { startTcpRelay } from '../harness/relay/tcp-relay.ts';
import type { Scenario } from '../harness/scenario.ts';

const STORED = 'gateway_control_plane_ingest_records_total';
const DUPLICATES = 'gateway_control_plane_ingest_duplicates_total';
/** NATS redelivers a message that was not acknowledged in time. */
const REDELIVERY = { deadlineMs: 90_000, intervalMs: 250 };

/**
 * First its inserts are blocked until some of them wait. Then its link to NATS becomes a black
 * hole, and the inserts are released. So their records are committed, but the acknowledgements are
 * lost. Then it is killed.
 */
export const controlPlaneKilledUnacked: Scenario<FaultWorld> = {
  fault: 'control plane killed between insert and acknowledgement, restarted',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const relay = await startTcpRelay(stack.nats.port);
    try {
      await world.controlPlane.stop();
      const throughRelay = { NATS_URL: `nats://127.0.0.1:${relay.port}` };
      const { adminUrl } = await world.restartControlPlane({ env: throughRelay });
      const run = await world.begin(this.fault);
      await eventually(async () => {
        if ((await metric(adminUrl, STORED)) === 0) throw new Error('nothing is stored yet');
      });
      const held = await holdRecords(stack.databaseUrl);
      await eventually(async () => {
        if ((await held.waiting()) === 0) throw new Error('no insert waits');
      });
      relay.blackHole();
      const before = await metric(adminUrl, STORED);
      await held.letGo();
      await eventually(async () => {
        if ((await metric(adminUrl, STORED)) === before) throw new Error('nothing was committed');
      });
      await world.controlPlane.stop('SIGKILL');
      await run.outage(outageMs);
      await run.repair(async () => {
        await world.restartControlPlane();
        await world.changeArrives();
      });
      let again = 0;
      await eventually(async () => {
        again = await metric(world.controlPlane.adminUrl, DUPLICATES);
        if (again === 0) throw new Error('the committed records were not delivered again');
      }, REDELIVERY);
      return await run.finish({}, `${again} records came twice`);
    } finally {
      await relay.close();
    }
  },
};
