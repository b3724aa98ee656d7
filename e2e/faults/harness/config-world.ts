import { UndoList } from '@gateway/shared/test/undo-list';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openConfigPublisher, type ConfigPublisher } from '@gateway/shared/test/config-publisher';
import { masterKeysVariable, type MasterKey } from '@gateway/shared/config/master-keys';
import { heartbeatSchema } from '@gateway/shared/heartbeats/heartbeat';
import { HEARTBEAT_SUBJECTS } from '@gateway/shared/messaging/names';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startFaultWorld, type FaultWorld } from './fault-world.ts';

/** A gateway, and a publisher with write access to its NATS and to the disks of its data planes. */
export interface ConfigWorld {
  readonly world: FaultWorld;
  readonly connection: NatsConnection;
  /** Writes configuration that is signed with the key of the gateway. */
  readonly publisher: ConfigPublisher;
  readonly keys: readonly MasterKey[];
  /** DATA_PLANE_DATA_DIR of each data plane, by index. */
  readonly dataDirs: readonly string[];
  /** The last error in the newest heartbeat of each data plane. */
  readonly lastErrors: ReadonlyMap<string, string | null>;
  close(): Promise<void>;
}

const DATA_PLANES = 2;

export async function startConfigWorld(): Promise<ConfigWorld> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-faults-'));
    undo.add(() => rm(folder, { recursive: true, force: true }));
    const dataDirs = Array.from({ length: DATA_PLANES }, (_, index) =>
      path.join(folder, String(index)),
    );
    const world = await startFaultWorld({
      dataPlanes: DATA_PLANES,
      dataPlaneStart: (_stack, index) => ({
        env: { DATA_PLANE_DATA_DIR: dataDirs[index] },
      }),
    });
    undo.add(() => world.close());
    const { natsUrl, masterKeys } = world.gateway.stack;
    const connection = await connect({ servers: natsUrl });
    undo.add(() => connection.close());
    const lastErrors = new Map<string, string | null>();
    connection.subscribe(HEARTBEAT_SUBJECTS, {
      callback(_error, message) {
        if (message.data.length === 0) return;
        const { id, last_error: lastError } = heartbeatSchema.parse(message.json());
        lastErrors.set(id, lastError);
      },
    });
    const keys = masterKeysVariable.parse(masterKeys);
    const [key] = keys;
    if (key === undefined) throw new Error('there is no master key');
    const publisher = await openConfigPublisher(connection, key);
    return { world, connection, publisher, keys, dataDirs, lastErrors, close: () => undo.run() };
  });
}
