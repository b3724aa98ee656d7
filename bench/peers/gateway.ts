import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StartError } from '@gateway/tools/process/errors';
import {
  createManagementClient,
  type ManagementClient,
} from '@gateway/local-stack/stack/management-client';
import { createPlaneStack } from '@gateway/testing/processes';
import { WIDE_QUOTA } from '../lab/management.ts';
import type { Site } from '../lab/site.ts';
import { answersCorrectly } from '../load/answer.ts';
import { configureMany, configureOne, type Configured } from './gateway-configuration.ts';
import type { Peer, PeerKind } from './peer.ts';

const SERVED_TIMEOUT_MS = 60_000;

/** Creates the routes, services and tokens of a row. */
export type Configure = (
  client: ManagementClient,
  upstreamUrl: string,
  databaseUrl: string,
) => Promise<Configured>;

/** Under the load a data plane renews its lease of this quota many times a second. */
const LEASED_QUOTA = { limit: 6_000_000, window_seconds: 60 };

/** The full path: token, scopes, quota, deadline, request id, trace, record, metrics and log line. */
const configureGateway: Configure = (client, url) => configureOne(client, url, WIDE_QUOTA);

/** Settings of the data plane of a row. */
type Settings = (site: Site) => Readonly<Record<string, string>>;

/** Exports a hundredth of the traces. The upstream takes the spans; it answers every request with 200. */
const sampleOnePercent: Settings = ({ upstreamPort }) => ({
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.01',
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${upstreamPort}`,
});

const ROWS: readonly (readonly [string, Configure, Settings?])[] = [
  ['gateway', configureGateway],
  ['gateway: 1 % traced', configureGateway, sampleOnePercent],
  ['gateway: quota leases', (client, url) => configureOne(client, url, LEASED_QUOTA)],
  [
    'gateway: idempotency key',
    async (client, url) => {
      const { authorization } = await configureOne(client, url, WIDE_QUOTA);
      return { authorization, shape: { keyed: true } };
    },
  ],
  ['gateway: 10 000 routes', configureMany],
];

/** Which gateway the rows start, and how. */
type RowStart = Pick<GatewayStart, 'checkout' | 'nodeArgs' | 'fromSources'>;

/** The rows of the gateway. */
export function gatewayRows(start: RowStart = {}): readonly PeerKind[] {
  return ROWS.map(([name, configure, settings]) => ({
    name,
    version: () => Promise.resolve('gateway of this commit'),
    start: (site) => startGateway(site, { name, configure, settings, ...start }),
  }));
}

export interface GatewayStart {
  readonly name?: string;
  readonly configure?: Configure;
  readonly settings?: Settings | undefined;
  /** Whether the settings make the data plane serve TLS. */
  readonly secure?: boolean;
  /** Options of the data plane's Node, such as `--inspect`. */
  readonly nodeArgs?: readonly string[];
  /** Whether the data plane runs from its sources, so that a profile names their files and lines. */
  readonly fromSources?: boolean;
  /**
   * Root of another checkout of this repository, with its packages installed, whose gateway is started; without it,
   * this checkout's.
   */
  readonly checkout?: string | undefined;
}

/**
 * Starts a gateway with a Postgres and a NATS of its own.
 *
 * The data plane runs on the measured core, NATS on the cores of the load. The control plane stops once the
 * configuration is served: the data plane does not need it, and storing records would take CPU time from the
 * load, which then could not saturate this row as it does the others.
 */
export async function startGateway(
  site: Site,
  {
    name = 'gateway',
    configure = configureGateway,
    settings = () => ({}),
    nodeArgs = [],
    fromSources = false,
    secure = false,
    checkout,
  }: GatewayStart = {},
): Promise<Peer> {
  const stack = await (await planeStackOf(checkout))();
  try {
    const controlPlane = await stack.startControlPlane({
      env: { MANAGEMENT_RATE_LIMIT: '1000000' },
    });
    const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
    const upstreamUrl = `http://127.0.0.1:${site.upstreamPort}`;
    const { authorization, shape } = await configure(client, upstreamUrl, stack.databaseUrl);
    const { launcher, signal } = site;
    const dataPlane = await stack.startDataPlane({
      launcher,
      nodeArgs,
      signal,
      env: settings(site),
      ...(fromSources && { main: path.join(checkout ?? repository, DATA_PLANE_SOURCE) }),
    });
    const baseUrl = secure ? dataPlane.baseUrl.replace('http:', 'https:') : dataPlane.baseUrl;
    const url = `${baseUrl}${shape.paths?.at(-1) ?? '/v1/proxy/orders'}`;
    await untilServed(url, authorization, signal);
    await controlPlane.stop();
    const { pid } = dataPlane;
    const helperPid = stack.nats.pid;
    return { name, url, authorization, shape, pid, helperPid, stop: () => stack.close() };
  } catch (error) {
    await stack.close();
    throw error;
  }
}

const repository = fileURLToPath(new URL('../../', import.meta.url));
const DATA_PLANE_SOURCE = 'packages/data-plane/src/main.ts';

/** Where a checkout has the code that starts its planes; the second is where older ones have it. */
const PLANE_STACK_FILES = [
  'packages/testing/src/processes.ts',
  'packages/local-stack/src/testing/processes.ts',
];

/** Another checkout's own code starts its gateway, with the settings and options of Node that it has there. */
async function planeStackOf(checkout: string | undefined): Promise<typeof createPlaneStack> {
  if (checkout === undefined) return createPlaneStack;
  const file = PLANE_STACK_FILES.map((one) => path.resolve(checkout, one)).find(existsSync);
  if (file === undefined) throw new StartError(`${checkout} is not a checkout of this repository`);
  const there = (await import(pathToFileURL(file).href)) as {
    createPlaneStack: typeof createPlaneStack;
  };
  return there.createPlaneStack;
}

/** Waits until the upstream answers requests to the URL. */
export async function untilServed(
  url: string,
  authorization: string,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  while (!(await answersCorrectly(url, authorization).catch(() => false))) {
    signal.throwIfAborted();
    if (performance.now() > endMs) throw new Error('the data plane did not serve the new route');
    await delay(20);
  }
}
