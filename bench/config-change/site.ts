import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import type { Run } from '../lab/run.ts';
import { seed, type Size } from '../lab/seed.ts';
import type { StartedStack } from '../lab/stack.ts';

const POLL_MS = 2;
const SERVED_TIMEOUT_MS = 60_000;

export type DataPlane = ServiceProcess;

/** A running control plane with a seeded configuration whose routes allow POST. */
export interface Site extends StartedStack {
  readonly routeIds: readonly string[];
  readonly signal: AbortSignal;
}

export async function seedSite(
  started: StartedStack,
  { signal }: Pick<Run, 'signal'>,
  size: Size,
  upstreamUrl: string,
): Promise<Site> {
  const routeIds = await seed(started.client, started.stack.databaseUrl, size, {
    service: { url: upstreamUrl },
    route: { methods: ['POST'] },
  });
  return { ...started, routeIds, signal };
}

/** Starts a data plane and waits until it serves the last route. */
export async function startDataPlane(site: Site): Promise<DataPlane> {
  const dataPlane = await site.stack.startDataPlane({ signal: site.signal });
  await untilAllowed(site, dataPlane, site.routeIds.length, 'POST');
  return dataPlane;
}

/**
 * Makes one of many changes, and waits until all data planes serve it: a route that is far from the one before gets
 * another method.
 *
 * @returns how long after its 2xx that was, ms
 */
export async function serveChange(
  site: Site,
  dataPlanes: readonly DataPlane[],
  change: number,
): Promise<number> {
  const route = 1 + ((change * 97) % site.routeIds.length);
  const method = change % 2 === 0 ? 'PATCH' : 'DELETE';
  await site.client.patch(`/v1/routes/${site.routeIds[route - 1] ?? ''}`, { methods: [method] });
  const committedMs = performance.now();
  await Promise.all(dataPlanes.map((one) => untilAllowed(site, one, route, method)));
  return performance.now() - committedMs;
}

/**
 * Waits until a data plane answers a GET of the route, which allows only another method, with this `Allow`.
 *
 * @throws if that takes more than a minute, or when the signal is aborted
 */
async function untilAllowed(
  { stack, signal }: Site,
  { baseUrl }: DataPlane,
  route: number,
  method: string,
): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  const headers = { authorization: `Bearer ${stack.adminToken}` };
  for (;;) {
    const answer = await fetch(`${baseUrl}/v1/proxy/route-${route}`, { headers }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.headers.get('allow') === method) return;
    if (performance.now() > endMs) throw new Error(`route-${route} is not served as ${method}`);
    await delay(POLL_MS, undefined, { signal });
  }
}
