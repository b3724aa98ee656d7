import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/testing/processes';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { z } from 'zod';
import { answersRight } from '../load/answer.ts';
import { usageOf } from '../measure/process-tree.ts';
import type { Peer, PeerKind, Site } from './peer.ts';

const SERVED_TIMEOUT_MS = 10_000;
const SETTLE_TIMEOUT_MS = 3_000;
const QUIET_WINDOW_MS = 200;
/** Of one core, over all that reads the records. */
const QUIET_SHARE = 0.1;

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
    const controlPlane = await stack.startControlPlane();
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
      settle: () => untilQuiet([controlPlane.pid, stack.nats.pid]),
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

/** Waits until the records of a round are stored, so that this does not slow the next row's load. */
async function untilQuiet(pids: readonly number[]): Promise<void> {
  const used = () => pids.reduce((sum, pid) => sum + usageOf(pid).cpuUs, 0);
  const endMs = performance.now() + SETTLE_TIMEOUT_MS;
  for (let before = used(); performance.now() < endMs;) {
    await delay(QUIET_WINDOW_MS);
    const now = used();
    if (now - before < QUIET_WINDOW_MS * 1_000 * QUIET_SHARE) return;
    before = now;
  }
}
