import { startNatsRegions } from '@gateway/local-stack/test/nats-regions';
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
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const relays: TcpRelay[] = [];
    const nats = await startNatsRegions(async (port) => {
      const relay = await startTcpRelay(port);
      relays.push(relay);
      undo.push(() => relay.close());
      return relay.port;
    });
    undo.push(() => nats.close());
    const { url, nodes } = nats.home;
    const world = await startFaultWorld({
      env: { NATS_URL: url, NATS_REPLICAS: String(nodes.length) },
      dataPlaneStart: (_stack, index) => ({
        env: index === 0 ? { REGION: 'eu' } : { REGION: 'us', NATS_URL: nats.remoteUrl },
      }),
    });
    undo.push(() => world.close());
    const quota = await openQuotaLoad(world);
    undo.push(() => quota.close());
    const link = {
      cut: () => relays.forEach((relay) => relay.blackHole()),
      heal: async () => void (await Promise.all(relays.map((relay) => relay.heal()))),
    };
    return { world, quota, link, close };
  } catch (error) {
    await close();
    throw error;
  }
}
