import { REQUEST_RECORDS } from '@gateway/control-plane/partitions/partitioned-table';
import { openDatabase } from '@gateway/control-plane/store/database';
import { dropPartition } from '@gateway/control-plane/partitions/store/partitions';
import { holdRecords } from '@gateway/testing/hold-records';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { eventually } from '@gateway/shared/test/eventually';
import type { Condition } from '../harness/condition.ts';
import type { ConfigurationWorld } from './configuration-world.ts';

const DAY_MS = 86_400_000;

/** A control plane checks the partitions when it starts, and then once a minute. */
export const partitionDropped: Condition<ConfigurationWorld> = {
  condition: 'the partition of tomorrow is dropped, and a dump reads the table',
  alerts: ['GatewayPartitionMissing'],
  resolved: ['GatewayPartitionMissing'],
  async cause({ gateway: { stack }, restarts }) {
    const url = stack.databaseUrl;
    const log = createLogger('test', 'silent');
    const database = openDatabase({ url, log, maxConnections: 1 });
    const tomorrowMs = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS;
    await eventually(async () => {
      const dropped = await dropPartition(database.db, REQUEST_RECORDS, tomorrowMs);
      if (dropped !== 'done') throw new Error(`the table is ${dropped}`);
    });
    await database.close();
    const held = await holdRecords(url, 'access share');
    await restarts.controlPlane();
    return async () => {
      await held.letGo();
      await restarts.controlPlane();
    };
  },
};
