import { setTimeout as delay } from 'node:timers/promises';
import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/local-stack/test/processes';
import { answersRight } from '../load/answer.ts';
import { configureMany, configureOne, type Configured } from './gateway-configuration.ts';
import type { Peer, PeerKind, Site } from './peer.ts';

const SERVED_TIMEOUT_MS = 30_000;

/** Puts the routes, services and tokens of a row into the gateway. */
export type Configure = (
  client: ReturnType<typeof createManagementClient>,
  upstreamUrl: string,
) => Promise<Configured>;

/** More than the load can use up. */
export const WIDE_QUOTA = { limit: 1_000_000_000, window_seconds: 60 };
/** Leases of it turn over many times a second under the load. */
const LEASED_QUOTA = { limit: 6_000_000, window_seconds: 60 };

/** The full path: token, scopes, quota, deadline, request id, trace, record, metrics and log line. */
const gateway = kind('gateway', (client, url) => configureOne(client, url, WIDE_QUOTA));

export const gatewayRows: readonly PeerKind[] = [
  gateway,
  kind('gateway: quota leases', (client, url) => configureOne(client, url, LEASED_QUOTA)),
  kind('gateway: idempotency key', async (client, url) => ({
    ...(await configureOne(client, url, WIDE_QUOTA)),
    shape: { keyed: true },
  })),
  kind('gateway: 10 000 routes', configureMany),
];

function kind(name: string, configure: Configure): PeerKind {
  return {
    name,
    version: () => Promise.resolve('gateway of this commit'),
    start: (site) => startGateway(site, [], name, configure),
  };
}

/**
 * Starts a gateway of its own; `nodeArgs` are options of the data plane's Node, such as `--inspect`.
 *
 * The data plane runs on the measured core, NATS beside the load. The control plane ends when the
 * configuration is served: a data plane needs it for nothing, and where it would store the records on the
 * load's core, the load would not saturate this row as it does the others.
 */
export async function startGateway(
  site: Site,
  nodeArgs: readonly string[],
  name = gateway.name,
  configure: Configure = (client, url) => configureOne(client, url, WIDE_QUOTA),
): Promise<Peer> {
  const stack = await createPlaneStack();
  try {
    const controlPlane = await stack.startControlPlane({
      env: { MANAGEMENT_RATE_LIMIT: '1000000' },
    });
    const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    const { authorization, shape } = await configure(
      client,
      `http://127.0.0.1:${site.upstreamPort}`,
    );
    const { launcher, signal } = site;
    const dataPlane = await stack.startDataPlane({ launcher, nodeArgs, signal });
    const url = `${dataPlane.baseUrl}${shape.paths?.at(-1) ?? '/v1/proxy/orders'}`;
    await untilServed(url, authorization, signal);
    await controlPlane.stop();
    return {
      ...{ name, url, authorization, shape },
      pid: dataPlane.pid,
      stop: () => stack.close(),
    };
  } catch (error) {
    await stack.close();
    throw error;
  }
}

/** Waits until requests to the URL are answered by the upstream. */
export async function untilServed(
  url: string,
  authorization: string,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  while (!(await answersRight(url, authorization).catch(() => false))) {
    signal.throwIfAborted();
    if (performance.now() > endMs) throw new Error('the data plane did not serve the new route');
    await delay(20);
  }
}
