import { startFaultWorld, type FaultWorld } from './fault-world.ts';
import { startTcpRelay, type TcpRelay } from './relay/tcp-relay.ts';

/** A gateway whose data planes reach NATS through a link that can be slowed down or broken. */
export interface LinkWorld {
  readonly world: FaultWorld;
  readonly relay: TcpRelay;
  close(): Promise<void>;
}

export async function startLinkWorld(): Promise<LinkWorld> {
  let relaying: Promise<TcpRelay> | undefined;
  try {
    const world = await startFaultWorld({
      async dataPlaneStart({ nats }) {
        relaying ??= startTcpRelay(nats.port);
        const { port } = await relaying;
        return { env: { NATS_URL: `nats://127.0.0.1:${port}` } };
      },
    });
    if (relaying === undefined) throw new Error('no data plane was started');
    const relay = await relaying;
    return {
      world,
      relay,
      async close() {
        await world.close();
        await relay.close();
      },
    };
  } catch (error) {
    await (await relaying)?.close();
    throw error;
  }
}
