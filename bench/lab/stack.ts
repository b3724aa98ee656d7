import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack, type PlaneStart } from '@gateway/testing/processes';
import type { Run } from './run.ts';

/** A stack with a control plane, and a client with the rights of its admin. */
export interface StartedStack {
  readonly stack: PlaneStack;
  readonly controlPlane: ServiceProcess;
  readonly client: ManagementClient;
}

/** For Postgres: all data is thrown away at the end, so durability is off. Reads do not depend on it. */
const THROWN_AWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  maintenance_work_mem: '512MB',
  max_wal_size: '4GB',
};

/** Starts Postgres, NATS and a control plane, which stop with the run. */
export async function startStack(
  run: Run,
  {
    create = createPlaneStack,
    postgres,
    ...controlPlane
  }: PlaneStart & {
    /** Of another checkout. */
    readonly create?: typeof createPlaneStack;
    /** What is measured is `durable` writes, or reads of data that is `thrown away`. */
    readonly postgres?: 'durable' | 'thrown away';
  } = {},
): Promise<StartedStack> {
  const stack = await create({
    ownPostgres: postgres !== undefined,
    postgresSettings: postgres === 'thrown away' ? THROWN_AWAY : {},
  });
  run.defer(() => stack.close());
  const started = await stack.startControlPlane({
    ...controlPlane,
    env: { MANAGEMENT_RATE_LIMIT: '1000000', ...controlPlane.env },
    signal: run.signal,
  });
  const client = createManagementClient(started.baseUrl, stack.adminToken);
  return { stack, controlPlane: started, client };
}
