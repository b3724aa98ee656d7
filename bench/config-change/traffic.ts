import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';

const PAUSE_MS = 10;

/** A light load: one request after the other on each data plane, with a pause in between. */
export function startLightTraffic(dataPlanes: readonly ServiceProcess[], token: string) {
  let tookMs: number[] = [];
  let stopped = false;
  const headers = { authorization: `Bearer ${token}` };
  const call = async ({ baseUrl }: ServiceProcess): Promise<void> => {
    while (!stopped) {
      const startedMs = performance.now();
      const answer = await fetch(`${baseUrl}/v1/proxy/route-0`, { method: 'PUT', headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`a request of the light load got status ${answer.status}`);
      tookMs.push(performance.now() - startedMs);
      await delay(PAUSE_MS);
    }
  };
  const running = Promise.all(dataPlanes.map(call));
  // Until `stop` nobody awaits it, and an unhandled rejection would end the process before it cleans up.
  running.catch(() => undefined);
  return {
    /** The durations of the requests since its last call, ms. */
    take(): number[] {
      const taken = tookMs;
      tookMs = [];
      return taken;
    },
    /** @throws if a request did not succeed */
    async stop(): Promise<void> {
      stopped = true;
      await running;
    },
  };
}
