import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';

const POLL_MS = 2;
const SERVED_TIMEOUT_MS = 60_000;

/**
 * Waits until a data plane answers a GET of the route, which allows only another method, with this `Allow`.
 *
 * @throws if that takes more than a minute, or when the signal is aborted
 */
export async function untilAllowed(
  dataPlane: ServiceProcess,
  token: string,
  route: number,
  method: string,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const url = `${dataPlane.baseUrl}/v1/proxy/route-${route}`;
    const answer = await fetch(url, { headers }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.headers.get('allow') === method) return;
    if (performance.now() > endMs) throw new Error(`route-${route} is not served as ${method}`);
    await delay(POLL_MS, undefined, { signal });
  }
}
