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

/** Time until records of a dead control plane are redelivered: the default, or less if outages are short. */
function ackWait(outageMs: number) {
  return { RECORD_ACK_WAIT_MS: String(Math.min(3000, outageMs)) };
}

/** Postgres or NATS stops. */
export const stores: FaultSuite<FaultWorld> = {
  name: 'stopped stores',
  open: (outageMs) => startFaultWorld({ ownPostgres: true, env: ackWait(outageMs) }),
  scenarios: [postgresStopped, natsRestarted, natsEmptied, natsLostUnread, allDown],
};

/** A process dies, its disk is full, or its partitions are missing. */
export const processes: FaultSuite<FaultWorld> = {
  name: 'stopped processes',
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
