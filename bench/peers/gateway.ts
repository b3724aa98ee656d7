import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { StartError } from '@gateway/tools/process/errors';
import { createPlaneStack } from '@gateway/testing/processes';
import type { Lab } from '../lab/lab.ts';
import { startStack } from '../lab/stack.ts';
import { answersCorrectly } from '../lab/answer.ts';
import type { Target } from '../load/wrk.ts';
import { HOST, oneRoute, seeded, type Configure } from './gateway-configuration.ts';
import type { Peer, PeerKind } from './peer.ts';
import { CERTIFICATE_FILE } from './servers.ts';

const SERVED_TIMEOUT_MS = 60_000;

/** Which gateway is started, and how. */
export interface GatewayStart {
  readonly name?: string;
  readonly configure?: Configure;
  /** Settings of the data plane. */
  readonly settings?: (lab: Lab) => Readonly<Record<string, string>>;
  /** Whether the data plane serves TLS. */
  readonly secure?: boolean;
  /** Put before the data plane's command; by default it gets the measured core. */
  readonly launcher?: (lab: Lab) => readonly string[];
  /** Options of the data plane's Node, such as `--inspect`. */
  readonly nodeArgs?: readonly string[];
  /** Whether the data plane runs from its sources, so that a profile names their files and lines. */
  readonly fromSources?: boolean;
  /** Root of another checkout of this repository, with its packages installed; by default this one. */
  readonly checkout?: string | undefined;
}

/** 10 000 routes to 100 services with 10 upstreams each, and 10 000 tokens. The load calls 1000 of the routes in turn. */
const manyRoutes: Configure = (client, site) => {
  const upstreams = Array.from({ length: 10 }, (_, at) => ({ url: `${site.upstreamUrl}/${at}` }));
  const size = { services: 100, routes: 10_000, tokens: 10_000 };
  return seeded(size, { service: { upstreams } }, { routes: 1_000 })(client, site);
};

const ROWS: readonly GatewayStart[] = [
  { name: 'gateway' },
  {
    name: 'gateway: 1 % traced',
    // The upstream takes the spans; it answers every request with 200.
    settings: ({ upstreamPort }) => ({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${upstreamPort}`,
    }),
  },
  {
    // Under the load a data plane renews its lease of this quota many times a second.
    name: 'gateway: quota leases',
    configure: oneRoute({ route: { rate_limit: { limit: 6_000_000, window_seconds: 60 } } }),
  },
  { name: 'gateway: idempotency key', configure: oneRoute({ shape: { keyed: true } }) },
  { name: 'gateway: 10 000 routes', configure: manyRoutes },
  {
    // The same request as that of `gateway`, by the host and the path of the route.
    name: 'gateway: by host and path',
    configure: oneRoute({
      route: { match: [{ hosts: [HOST], paths: [{ prefix: '/orders' }] }] },
      shape: { paths: ['/orders'] },
    }),
  },
];

/** The rows of the gateway. */
export const gatewayRows = (start: GatewayStart = {}): readonly PeerKind[] =>
  ROWS.map((row) => gateway({ ...row, ...start }));

export function gateway(start: GatewayStart): PeerKind {
  return {
    name: start.name ?? 'gateway',
    start: (lab) => startGateway(lab, start),
  };
}

/**
 * Starts a gateway with a Postgres and a NATS of its own.
 *
 * The data plane runs on the measured core, NATS on the cores of the load. The control plane stops once the
 * configuration is served: the data plane does not need it, and storing records would take CPU time from the
 * load, which then could not saturate this row as it does the others.
 */
export async function startGateway(lab: Lab, start: GatewayStart = {}): Promise<Peer> {
  const { name = 'gateway', configure = oneRoute(), secure = false, checkout } = start;
  const { stack, controlPlane, client } = await startStack(lab, {
    create: await planeStackOf(checkout),
  });
  const upstreamUrl = `http://127.0.0.1:${lab.upstreamPort}`;
  const site = { ...lab, upstreamUrl, databaseUrl: stack.databaseUrl };
  const { authorization, shape = {} } = await configure(client, site);
  const { signal } = lab;
  const pem = path.join(lab.folder, CERTIFICATE_FILE);
  const source = path.join(checkout ?? repository, 'packages/data-plane/src/main.ts');
  const dataPlane = await stack.startDataPlane({
    launcher: start.launcher?.(lab) ?? lab.launcher,
    nodeArgs: start.nodeArgs ?? [],
    signal,
    env: {
      ...(secure && { TLS_CERT_FILE: pem, TLS_KEY_FILE: pem }),
      ...start.settings?.(lab),
    },
    ...(start.fromSources === true && { main: source }),
  });
  const baseUrl = secure ? dataPlane.baseUrl.replace('http:', 'https:') : dataPlane.baseUrl;
  const url = `${baseUrl}${shape.paths?.at(-1) ?? '/v1/proxy/orders'}`;
  await untilServed({ url, authorization }, signal);
  await controlPlane.stop();
  return { name, url, authorization, shape, pid: dataPlane.pid, helperPid: stack.nats.pid };
}

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Where a checkout has the code that starts its planes; the others are where older ones have it. */
const PLANE_STACK_FILES = [
  'packages/testing/src/processes.ts',
  'packages/local-stack/test/processes.ts',
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
  { url, authorization }: Target,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + SERVED_TIMEOUT_MS;
  while (!(await answersCorrectly(url, authorization).catch(() => false))) {
    signal.throwIfAborted();
    if (performance.now() > endMs) throw new Error('the data plane did not serve the new route');
    await delay(20);
  }
}
