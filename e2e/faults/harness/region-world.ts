import { UndoList } from '@gateway/shared/test/undo-list';
import { startNatsRegions } from '@gateway/testing/nats-regions';
import { startFaultWorld, type FaultWorld } from './fault-world.ts';
import { openQuotaLoad, type QuotaLoad } from './quota-load.ts';
import { startTcpRelay, type TcpRelay } from './relay/tcp-relay.ts';

/**
 * A gateway in two regions. The home region has the control plane, Postgres, the NATS cluster and the first data plane; the
 * second data plane is in another region, with a NATS server without JetStream; the clusters are joined by gateways.
 */
export interface RegionWorld {
  readonly world: FaultWorld;
  readonly quota: QuotaLoad;
  /** The only link between the regions. */
  readonly link: { cut(): void; heal(): Promise<void> };
  close(): Promise<void>;
}

export async function startRegionWorld(): Promise<RegionWorld> {
  const undo = new UndoList();
  return undo.orUndo(async () => {
    const relays: TcpRelay[] = [];
    const linkTo = async (port: number) => {
      const relay = await startTcpRelay(port);
      relays.push(relay);
      undo.add(() => relay.close());
      return relay.port;
    };
    const nats = await startNatsRegions(linkTo);
    undo.add(() => nats.close());
    const { url, nodes } = nats.home;
    const world = await startFaultWorld({
      env: { NATS_URL: url, NATS_REPLICAS: String(nodes.length) },
      async dataPlaneStart({ controlPlaneUrl }, index) {
        if (index === 0) return { env: { REGION: 'eu' } };
        const port = await linkTo(Number(new URL(controlPlaneUrl ?? '').port));
        const CONTROL_PLANE_URL = `http://127.0.0.1:${port}`;
        return { env: { REGION: 'us', NATS_URL: nats.remoteUrl, CONTROL_PLANE_URL } };
      },
    });
    undo.add(() => world.close());
    const quota = await openQuotaLoad(world);
    undo.add(() => quota.close());
    const link = {
      cut: () => relays.forEach((relay) => relay.blackHole()),
      heal: async () => void (await Promise.all(relays.map((relay) => relay.heal()))),
    };
    return { world, quota, link, close: () => undo.run() };
  });
}
