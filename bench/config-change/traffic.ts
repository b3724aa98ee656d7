import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';

const PAUSE_MS = 10;

/**
 * Does the work beside a light load: one request after the other on each data plane, with a pause in between.
 *
 * @param work is given a function that returns the durations of the requests since its last call, ms
 * @throws if a request does not succeed, when the work has ended
 */
export async function besideTraffic<T>(
  dataPlanes: readonly ServiceProcess[],
  token: string,
  work: (take: () => number[]) => Promise<T>,
): Promise<T> {
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
  // Until the work has ended nobody awaits it, and an unhandled rejection would end the process before it cleans up.
  running.catch(() => undefined);
  const take = () => {
    const taken = tookMs;
    tookMs = [];
    return taken;
  };
  try {
    return await work(take);
  } finally {
    stopped = true;
    await running;
  }
}
