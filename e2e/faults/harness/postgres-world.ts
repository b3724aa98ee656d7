import { UndoList } from '@gateway/shared/test/undo-list';
import { ensureDatabase } from '@gateway/local-stack/postgres/ensure-database';
import { startPostgresPair, type PostgresPair } from '@gateway/testing/postgres-pair';
import { startFaultWorld, type FaultWorld } from './fault-world.ts';
import { startTcpRelay, type TcpRelay } from './relay/tcp-relay.ts';

type Plane = FaultWorld['controlPlane'];

/** A gateway whose Postgres is a primary and a standby, with two control planes. */
export interface PostgresWorld {
  readonly world: FaultWorld;
  readonly pair: PostgresPair;
  /** The one that is called, and the second one. */
  readonly controlPlanes: readonly Plane[];
  /** Between the control planes and the server that is the primary now. */
  primaryLink(): TcpRelay;
  close(): Promise<void>;
}

const DATABASE = 'gateway';

export async function startPostgresWorld(): Promise<PostgresWorld> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const pair = await startPostgresPair();
    undo.add(() => pair.close());
    await ensureDatabase(pair.primary.url, DATABASE);
    const links = new Map<number, TcpRelay>();
    for (const { port } of [pair.primary, pair.standby]) {
      const relay = await startTcpRelay(port);
      undo.add(() => relay.close());
      links.set(port, relay);
    }
    const url = pair.url(DATABASE, (port) => links.get(port)?.port ?? port);
    const world = await startFaultWorld({ env: { DATABASE_URL: url } });
    undo.add(() => world.close());
    const second = await world.gateway.stack.startControlPlane();
    return {
      world,
      pair,
      controlPlanes: [world.controlPlane, second],
      primaryLink() {
        const link = links.get(pair.primary.port);
        if (link === undefined) throw new Error('the primary has no link');
        return link;
      },
      close: () => undo.run(),
    };
  });
}
