import { startNatsCluster, type NatsCluster } from '@gateway/testing/nats-cluster';
import { startFaultWorld, type FaultWorld } from './fault-world.ts';
import { startTcpRelay, type TcpRelay } from './relay/tcp-relay.ts';

/** A gateway whose NATS is a cluster of three servers with three replicas of everything. */
export interface ClusterWorld {
  readonly world: FaultWorld;
  readonly cluster: NatsCluster;
  close(): Promise<void>;
}

/** The first data plane knows only the first server, which can be cut off from the two others. */
export interface SplitWorld extends ClusterWorld {
  readonly split: { begin(): Promise<void>; heal(): Promise<void> };
}

export async function startClusterWorld(): Promise<ClusterWorld> {
  return openWorld(await startNatsCluster());
}

export async function startSplitWorld(): Promise<SplitWorld> {
  const relays: TcpRelay[] = [];
  const cluster = await startNatsCluster({
    async routePort(from, to, port) {
      if (from !== 0 && to !== 0) return port;
      const relay = await startTcpRelay(port);
      relays.push(relay);
      return relay.port;
    },
  });
  const each = async (work: (relay: TcpRelay) => unknown) => {
    await Promise.all(relays.map(work));
  };
  const opened = await openWorld(cluster, cluster.nodes[0]?.server.url);
  return {
    ...opened,
    split: {
      begin: () => each((relay) => relay.blackHole()),
      heal: () => each((relay) => relay.heal()),
    },
    async close() {
      await opened.close();
      await each((relay) => relay.close());
    },
  };
}

/** @param firstUrl `NATS_URL` of the first data plane, if it does not know all servers */
async function openWorld(cluster: NatsCluster, firstUrl = cluster.url): Promise<ClusterWorld> {
  try {
    const world = await startFaultWorld({
      env: { NATS_URL: cluster.url, NATS_REPLICAS: String(cluster.nodes.length) },
      dataPlaneStart: (_stack, index) => (index === 0 ? { env: { NATS_URL: firstUrl } } : {}),
    });
    return {
      world,
      cluster,
      async close() {
        await world.close();
        await cluster.close();
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
