import { isIPv6 } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@gateway/client';
import type { BannerFacts } from './banner.ts';
import { builtPlane } from '@gateway/tools/build/built-planes';
import type { StackConfig } from './config.ts';
import { demoEnvironment, ensureDemo } from './demo.ts';
import { pickDemoAddress } from './demo-address.ts';
import { startControlPlane, startDataPlane, startDemoUpstream } from './planes.ts';
import { adminTokenFile, type StackSecrets } from './secrets.ts';
import { startServers, type ServerSteps } from './servers.ts';

const firstRequestMs = 10_000;
/** The address that the processes listen on by default. */
const loopback = '127.0.0.1';

/** Where the console sends requests: the first data plane, which starts later than the control plane. */
function firstDataPlaneUrl({ dataPlanes }: StackConfig): string {
  const { GATEWAY_HOST: host = loopback } = process.env;
  const reached = host === '0.0.0.0' || host === '::' ? loopback : host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${dataPlanes[0]?.port}`;
}

/** Whether a request reaches the upstream, whatever it answers. */
async function isForwarded(baseUrl: string, token: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v1/proxy/echo`, {
    headers: { authorization: `Bearer ${token}`, 'x-gateway-environment': demoEnvironment },
    signal: AbortSignal.timeout(2000),
  });
  await response.arrayBuffer();
  return response.headers.get('x-gateway-error') === null;
}

/** Waits until the data plane serves the route, shortly after its creation. */
async function waitForRoute(baseUrl: string, token: string, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + firstRequestMs;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    if (await isForwarded(baseUrl, token).catch(() => false)) return true;
    await delay(25);
  }
  return false;
}

/**
 * Builds the planes and starts all processes of the stack in order. Each is added to the supervisor as soon as it runs.
 * Then creates the demo service and route.
 *
 * @throws {StartError} or the signal's reason; the caller stops what was started through the supervisor
 */
export async function startStack(
  config: StackConfig,
  secrets: StackSecrets,
  steps: ServerSteps,
): Promise<BannerFacts> {
  // In parallel with the start of the servers. The start of a plane waits for its bundle and reports why there is none.
  void builtPlane('control-plane').catch(() => undefined);
  const { supervisor, log, signal } = steps;
  const { databaseUrl, natsUrl } = await startServers(config, steps);
  const env = {
    GATEWAY_DATA_DIR: config.dataDir,
    NATS_URL: natsUrl,
    GATEWAY_MASTER_KEYS: secrets.masterKeys,
    DEFAULT_ENVIRONMENT: config.defaultEnvironment,
    UPSTREAM_DENY_CIDRS: config.upstreamDenyCidrs,
    LOG_LEVEL: config.logLevel,
    // The stack itself calls the planes over http, and its banner shows http URLs.
    TLS_CERT_FILE: '',
    TLS_KEY_FILE: '',
    TLS_CERT_DIR: '',
  };
  const optionsOf = (name: string) => ({
    name,
    logFile: path.join(config.dataDir, 'logs', `${name}.log`),
    signal,
  });
  log('Starting the control plane, which migrates the database ...');
  const controlPlane = await startControlPlane({
    ...optionsOf('control-plane'),
    port: config.controlPlanePort,
    adminPort: config.controlPlaneAdminPort,
    env: {
      ...env,
      CONTROL_PLANE_HOST: process.env['CONTROL_PLANE_HOST'] ?? loopback,
      CONTROL_PLANE_ADMIN_HOST: process.env['CONTROL_PLANE_ADMIN_HOST'] ?? loopback,
      DATABASE_URL: databaseUrl,
      GATEWAY_ADMIN_TOKEN: secrets.adminToken,
      // The host of the base URL: a route that names it would take the management API and the console away.
      RESERVED_HOSTS: process.env['RESERVED_HOSTS'] ?? loopback,
      DATA_PLANE_URL: process.env['DATA_PLANE_URL'] ?? firstDataPlaneUrl(config),
      TRUSTED_PROXIES: process.env['TRUSTED_PROXIES'] ?? '127.0.0.1/32,::1/128',
    },
  });
  await supervisor.add(controlPlane, controlPlane.ports);
  signal.throwIfAborted();

  const names = config.dataPlanes.map(({ name }) => name);
  log(`Starting the demo upstream and ${names.join(', ')} ...`);
  const demo = await pickDemoAddress(config.dataDir);
  const startingDataPlanes = config.dataPlanes.map(({ name, port, adminPort }) =>
    startDataPlane({
      ...optionsOf(name),
      port,
      adminPort,
      env: {
        ...env,
        GATEWAY_HOST: process.env['GATEWAY_HOST'] ?? loopback,
        DATA_PLANE_ADMIN_HOST: process.env['DATA_PLANE_ADMIN_HOST'] ?? loopback,
        CONTROL_PLANE_URL: controlPlane.baseUrl,
        // No load balancer needs time here, and Ctrl-C must stop everything soon.
        DRAIN_GRACE_MS: process.env['DRAIN_GRACE_MS'] ?? '0',
        DRAIN_TIMEOUT_MS: process.env['DRAIN_TIMEOUT_MS'] ?? '5000',
        DATA_PLANE_DATA_DIR: path.join(config.dataDir, name),
        REGION: config.region,
        WORKERS: String(config.workers),
      },
    }),
  );
  const startingDemo = startDemoUpstream({
    ...optionsOf('demo-upstream'),
    port: demo.port,
    env: {},
  });
  // Waits for all, so that a slow one cannot start after a stop.
  const ends = await Promise.allSettled([startingDemo, ...startingDataPlanes]);
  const started = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  // The demo upstream is the first, so that it stops after the data planes and their last requests end.
  for (const service of started) await supervisor.add(service, service.ports);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  signal.throwIfAborted();

  const client = createClient({ baseUrl: controlPlane.baseUrl, token: secrets.adminToken });
  const demoState = await ensureDemo(client, demo.url, demo.previousUrl);
  const urls = started.slice(1).map(({ baseUrl }) => baseUrl);
  for (const url of demoState === 'changed' ? urls : []) {
    if (!(await waitForRoute(url, secrets.adminToken, signal))) {
      log(`The route echo is not served at ${url} yet; see the logs in ${config.dataDir}/logs`);
    }
  }
  const [baseUrl = '', ...furtherUrls] = urls;
  return {
    baseUrl,
    furtherUrls,
    workers: config.workers,
    controlPlaneUrl: controlPlane.baseUrl,
    adminToken: demoState === 'refused' ? undefined : secrets.adminToken,
    adminTokenFile: adminTokenFile(config.dataDir),
    defaultEnvironment: config.defaultEnvironment,
    dataDir: config.dataDir,
  };
}
