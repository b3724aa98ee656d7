import { startFaultWorld, type FaultWorld } from '../harness/fault-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { allDown } from '../scenarios/all-down.ts';
import { controlPlaneKilledUnacked } from '../scenarios/control-plane-killed-unacked.ts';
import { controlPlaneKilled } from '../scenarios/control-plane-killed.ts';
import { dataPlaneKilled } from '../scenarios/data-plane-killed.ts';
import { dataPlaneTerminated } from '../scenarios/data-plane-terminated.ts';
import { diskFull } from '../scenarios/disk-full.ts';
import { natsLostUnread } from '../scenarios/nats-lost-unread.ts';
import { natsEmptied, natsRestarted } from '../scenarios/nats-stopped.ts';
import { partitionMissing } from '../scenarios/partition-missing.ts';
import { postgresStopped } from '../scenarios/postgres-stopped.ts';

/** What a dead control plane has read comes again after the usual time, or soon where outages are short. */
function ackWait(outageMs: number) {
  return { RECORD_ACK_WAIT_MS: String(Math.min(30_000, outageMs)) };
}

/** Stores that stop. */
export const stores: FaultSuite<FaultWorld> = {
  name: 'stores that stop',
  open: (outageMs) => startFaultWorld({ ownPostgres: true, env: ackWait(outageMs) }),
  scenarios: [postgresStopped, natsRestarted, natsEmptied, natsLostUnread, allDown],
};

/** Processes that die, and what they stand on. */
export const processes: FaultSuite<FaultWorld> = {
  name: 'processes that die',
  open: (outageMs) => startFaultWorld({ env: ackWait(outageMs) }),
  scenarios: [
    controlPlaneKilled,
    controlPlaneKilledUnacked,
    dataPlaneTerminated,
    dataPlaneKilled,
    partitionMissing,
    diskFull,
  ],
};
