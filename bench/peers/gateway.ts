import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/testing/processes';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { z } from 'zod';
import { answersRight } from '../load/answer.ts';
import type { Peer, PeerKind, Site } from './peer.ts';

const SERVED_TIMEOUT_MS = 10_000;

const created = z.object({ data: z.object({ id: z.string() }) });
const issued = z.object({ data: z.object({ secret: z.string() }) });

/**
 * The gateway's full path: token, scopes, quota, deadline, request id, trace, record, metrics and log line.
 * The data plane runs on the measured core; control plane, Postgres and NATS beside the load.
 */
export const gateway: PeerKind = {
  name: 'gateway',
  version: () => Promise.resolve('gateway of this commit'),
  start: (site) => startGateway(site, []),
};

/** Starts it; `nodeArgs` are options of the data plane's Node, such as `--cpu-prof`. */
export async function startGateway(site: Site, nodeArgs: readonly string[]): Promise<Peer> {
  const stack = await createPlaneStack();
  try {
    // It stores the records behind the load, so that the load saturates this row as it does the others.
    const controlPlane = await stack.startControlPlane({ launcher: ['nice', '-n', '19'] });
    const authorization = await configure(stack, controlPlane, site.upstreamPort);
    const { launcher, signal } = site;
    const dataPlane = await stack.startDataPlane({ launcher, nodeArgs, signal });
    const url = `${dataPlane.baseUrl}/v1/proxy/orders`;
    await untilServed(url, authorization, signal);
    return {
      name: 'gateway',
      url,
      authorization,
      pid: dataPlane.pid,
      stop: () => stack.close(),
    };
  } catch (error) {
    await stack.close();
    throw error;
  }
}

/** Makes the service, a route with the largest quota, and a token for it; gives the header to send. */
async function configure(
  stack: PlaneStack,
  controlPlane: ServiceProcess,
  upstreamPort: number,
): Promise<string> {
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const url = `http://127.0.0.1:${upstreamPort}`;
  const service = await client.post('/v1/services', {
    name: 'orders',
    environment: 'production',
    url,
  });
  await client.post('/v1/routes', {
    name: 'orders',
    service_id: created.parse(service).data.id,
    rate_limit: { limit: 1_000_000_000, window_seconds: 60 },
  });
  const token = await client.post('/v1/tokens', {
    name: 'bench',
    environments: ['production'],
    routes: ['orders'],
    scopes: ['proxy'],
  });
  return `Bearer ${issued.parse(token).data.secret}`;
}

async function untilServed(url: string, authorization: string, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  while (!(await answersRight(url, authorization).catch(() => false))) {
    signal.throwIfAborted();
    if (performance.now() > endMs) throw new Error('the data plane did not serve the new route');
    await delay(20);
  }
}
