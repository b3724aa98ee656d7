import type { Gateway } from '../../harness/gateway.ts';
import { watchAlerts } from './alert-watch.ts';
import type { AlertWorld, End } from './condition.ts';
import { prepareHealthyTraffic } from './healthy-traffic.ts';

export interface GatewayWorld extends AlertWorld {
  readonly gateway: Gateway;
}

type Plane = Gateway['controlPlane'];

/**
 * Watches a gateway.
 *
 * @param more planes that were started beside those of the gateway
 * @param undo closes what was opened for the gateway, last first
 */
export async function openWorld(
  gateway: Gateway,
  more: readonly Plane[] = [],
  undo: readonly End[] = [],
): Promise<GatewayWorld> {
  const traffic = await prepareHealthyTraffic(gateway);
  const watch = await watchAlerts([gateway.controlPlane], [...gateway.dataPlanes, ...more]);
  return {
    gateway,
    watch,
    traffic,
    async close() {
      await watch.close();
      await gateway.close();
      for (const step of undo.toReversed()) await step();
    },
  };
}

/** A data plane of the gateway by its index. */
export function dataPlane({ gateway }: GatewayWorld, index = 0): Plane {
  const plane = gateway.dataPlanes[index];
  if (plane === undefined) throw new Error(`no data plane ${index}`);
  return plane;
}

/** Repeats `send` until the returned function is called, which resolves after the last one. */
export function keepSending(send: () => Promise<unknown>): End {
  const ended = new AbortController();
  const sending = (async () => {
    while (!ended.signal.aborted) await send();
  })();
  return () => {
    ended.abort();
    return sending;
  };
}

/** Runs all ends, also after one has failed. */
export function allOf(...ends: readonly End[]): End {
  return () => Promise.all(ends.map((end) => end()));
}
