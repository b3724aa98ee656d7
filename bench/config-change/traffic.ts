import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';

export interface Traffic {
  /** Durations of the requests since the last call, ms. */
  take(): number[];
  stop(): Promise<void>;
}

const PAUSE_MS = 10;

/** A light load: one request after the other on each data plane, with a pause in between. */
export function startTraffic(dataPlanes: readonly ServiceProcess[], token: string): Traffic {
  let tookMs: number[] = [];
  let stopped = false;
  const headers = { authorization: `Bearer ${token}` };
  const run = async ({ baseUrl }: ServiceProcess): Promise<void> => {
    while (!stopped) {
      const startedMs = performance.now();
      const answer = await fetch(`${baseUrl}/v1/proxy/route-0`, { method: 'PUT', headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`a request of the light load got status ${answer.status}`);
      tookMs.push(performance.now() - startedMs);
      await delay(PAUSE_MS);
    }
  };
  const running = Promise.all(dataPlanes.map(run));
  return {
    take() {
      const taken = tookMs;
      tookMs = [];
      return taken;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
