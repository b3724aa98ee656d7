import { REQUEST_RECORDS } from '@gateway/control-plane/partitions/partitioned-table';
import { openDatabase } from '@gateway/control-plane/store/database';
import {
  dropPartition,
  listPartitions,
  listDefaultPeriods,
} from '@gateway/control-plane/partitions/store/partitions';
import { recordBatchText, requestRecord } from '@gateway/shared/test/request-record';
import { recordSubject } from '@gateway/shared/messaging/names';
import type { RequestRecord } from '@gateway/shared/records/record';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import { connect } from '@nats-io/transport-node';
import { metric } from '../../harness/figures.ts';
import type { FaultWorld } from '../harness/fault-world.ts';
import { hasLogged } from '../harness/log-lines.ts';
import type { Scenario } from '../harness/scenario.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LATE = 'gateway_control_plane_late_partitions_total{table="request_records"}';
const MISSING = 'gateway_control_plane_missing_partitions';
const WAIT = { deadlineMs: 30_000, intervalMs: 50 };

/** The partitions of today and of tomorrow are missing; there is already a record of tomorrow. */
export const partitionMissing: Scenario<FaultWorld> = {
  fault: 'record partitions of today and tomorrow missing',
  async run(world, outageMs) {
    const { stack } = world.gateway;
    const log = createLogger('test', 'silent');
    const database = openDatabase({ url: stack.databaseUrl, log, maxConnections: 1 });
    const { db } = database;
    try {
      const before = await restartAndCheckPartitions(world);
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      for (const day of [today, today + DAY_MS]) {
        await eventually(async () => {
          const dropped = await dropPartition(db, REQUEST_RECORDS, day);
          if (dropped !== 'done') throw new Error(`the table is ${dropped}`);
        }, WAIT);
      }
      const run = await world.begin(this.fault);
      const early = requestRecord(today + DAY_MS + 1);
      await deliver(stack.natsUrl, early);
      await eventually(async () => {
        const strays = await listDefaultPeriods(db, REQUEST_RECORDS);
        const both = strays.includes(today) && strays.includes(today + DAY_MS);
        if (!both) throw new Error('the DEFAULT partition does not have their rows yet');
      }, WAIT);
      await run.outage(outageMs);
      // A control plane checks every minute, so a long outage ends by itself. It also checks when it starts.
      const lateBefore = await metric(before.adminUrl, LATE);
      await run.repair(async () => {
        if (lateBefore === 0) {
          await world.controlPlane.stop();
          await world.restartControlPlane();
        }
        await eventually(async () => {
          const made = await listPartitions(db, REQUEST_RECORDS);
          if (!made.includes(today) || !made.includes(today + DAY_MS))
            throw new Error('the partitions are not created');
          if ((await listDefaultPeriods(db, REQUEST_RECORDS)).length > 0)
            throw new Error('the rows are not moved');
        }, WAIT);
      });
      const counted = await metric(world.controlPlane.adminUrl, LATE);
      run.expectations.hold(counted === 2, `${counted} late partitions were counted`);
      await eventually(async () => {
        const logged = await hasLogged(
          world.controlPlane,
          'late rows moved to their partition',
          textOf(today),
        );
        if (!logged) throw new Error('the log does not contain it');
      }, WAIT);
      const { status } = await world.management.get(`/v1/requests/${early.id}`);
      run.expectations.hold(status === 200, `the record of the next day: ${status}`);
      return await run.finish();
    } finally {
      await database.close();
    }
  },
};

/** Starts a control plane and waits until it has checked the partitions; the next check is a minute later. */
async function restartAndCheckPartitions(world: FaultWorld): Promise<FaultWorld['controlPlane']> {
  await world.controlPlane.stop();
  const started = await world.restartControlPlane();
  await eventually(async () => {
    const metrics = await (await fetch(`${started.adminUrl}/metrics`)).text();
    if (!metrics.includes(`${MISSING}{table="audit_events"} 0`))
      throw new Error('the partitions are not checked yet');
  }, WAIT);
  return started;
}

async function deliver(natsUrl: string, record: RequestRecord): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  await connection.request(recordSubject('test'), recordBatchText([record]));
  await connection.close();
}

function textOf(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10);
}
