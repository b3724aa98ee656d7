import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemClock as clock } from '@gateway/shared/clock';
import {
  resolveBySystem,
  SYSTEM_SOURCES,
  type NameSources,
} from '@gateway/shared/dns/system-names';
import { ConfigError } from '@gateway/shared/config/environment';
import { createIdFactory, systemRandom } from '@gateway/shared/ids';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { SecretVault } from '@gateway/shared/secrets/secret-vault';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { openTelemetry } from '@gateway/shared/opentelemetry/open-telemetry';
import { startAdminServer } from '@gateway/shared/telemetry/admin-server';
import { openLog, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import { Registry } from 'prom-client';
import { bootstrap } from './prepare-database.ts';
import { directUrl, readConfig, STOP_TIMEOUT_MS, type Config } from './config.ts';
import { createApp } from './http/app.ts';
import { createAuthenticator } from './http/authenticate.ts';
import { createHttpMetrics, observeDroppedCounters, observePool } from './http/metrics.ts';
import { startServer } from './http/server.ts';
import { traceCalls } from './http/trace-calls.ts';
import { managementEndpoints } from './endpoints.ts';
import { createDroppedKeys } from './partitions/key-cleanup.ts';
import { createPartitionMetrics } from './partitions/partition-metrics.ts';
import { observeLinks } from './links/links-metric.ts';
import { startIndexBuild } from './partitions/index-build.ts';
import { startRetention } from './partitions/retention.ts';
import { startTokenUses } from './access/token-uses.ts';
import { startMessaging } from './background.ts';
import { createResolveName } from './hosts/resolve-names.ts';
import { awaitPostgres } from './store/await-postgres.ts';
import { openDatabase } from './store/database.ts';
import { startDatabaseProbe } from './store/probe.ts';
import { createConsoleSend } from './console-send.ts';

const NAME = 'control plane';
const IDENTITY = { service: 'gateway-control-plane', instance: hostname() };
/** Where the console is built; see packages/console/build. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../console/dist', import.meta.url));
/** Where the documentation is built; see packages/docs-site/build. */
const DOCS_FOLDER = fileURLToPath(new URL('../../docs-site/dist', import.meta.url));
/** How many of the data planes' faults /readyz lists. */
const MAX_SHOWN_FAULTS = 20;
/** How long a stop may export what waits. */
const OTLP_FLUSH_MS = 2_000;
/** Those of both families, also if this machine has only one: the data planes may have both. */
const ALL_ADDRESSES: NameSources = { ...SYSTEM_SOURCES, families: () => [4, 6] };

const newId = createIdFactory(() => clock.nowMs(), systemRandom);

function load(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${NAME} cannot start: ${error.message}\n`);
    process.exit(1);
  }
}

async function start(runner: Runner, config: Config, { log, observe }: ProcessLog): Promise<void> {
  const registry = new Registry();
  observe(registry);
  collectProcessMetrics(registry, clock);
  const stopping = new AbortController();
  const { signal } = stopping;
  const { tracing, close: closeTelemetry } = await openTelemetry({
    settings: config,
    identity: IDENTITY,
    clock,
    log,
    registry,
  });
  runner.defer('OTLP', () => closeTelemetry(OTLP_FLUSH_MS));
  const readiness = {
    databaseFault: (): string | undefined => 'not migrated yet',
    messaging: () => 'waiting',
    dataPlaneFaults: (): readonly string[] => [],
  };
  const databaseFaults = () => {
    const fault = readiness.databaseFault();
    return fault === undefined ? [] : [`Postgres cannot be used: ${fault}`];
  };
  const admin = await startAdminServer({
    host: config.CONTROL_PLANE_ADMIN_HOST,
    port: config.CONTROL_PLANE_ADMIN_PORT,
    portVariable: 'CONTROL_PLANE_ADMIN_PORT',
    log,
    registry,
    notReady: () => [
      ...(signal.aborted ? ['stopping'] : []),
      ...databaseFaults(),
      ...(readiness.messaging() === 'waiting' ? ['NATS has not been reached yet'] : []),
    ],
    degraded: () => [
      ...(readiness.messaging() === 'disconnected'
        ? ['NATS is unreachable: changes wait to be published']
        : []),
      ...readiness.dataPlaneFaults().slice(0, MAX_SHOWN_FAULTS),
    ],
  });
  runner.defer('admin server', () => admin.close());

  const database = openDatabase({
    url: config.DATABASE_URL,
    log,
    maxConnections: config.DATABASE_MAX_CONNECTIONS,
  });
  const { db } = database;
  runner.defer('Postgres', () => database.close());
  observePool(registry, () => database.poolUse());
  const parts = { db, clock, newId, log };
  const partitionMetrics = createPartitionMetrics(registry);
  const bootstrapping = awaitPostgres(() => bootstrap(config, { ...parts, partitionMetrics }), {
    clock,
    log,
    signal,
    onFault: (reason) => {
      readiness.databaseFault = () => reason;
    },
  });
  runner.defer('bootstrap', () => bootstrapping.catch(() => undefined));
  runner.defer('wait for Postgres', () => {
    stopping.abort();
  });
  try {
    await bootstrapping;
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const probeDatabase = openDatabase({ url: config.DATABASE_URL, log, maxConnections: 1 });
  const probe = startDatabaseProbe(probeDatabase, clock, log);
  runner.defer('Postgres probe', () => probe.stop());
  readiness.databaseFault = () => probe.fault();

  const retention = startRetention({
    ...parts,
    metrics: partitionMetrics,
    droppedKeys: createDroppedKeys(registry),
    historyDays: config.CONFIG_HISTORY_DAYS,
  });
  runner.defer('retention', () => retention.stop());
  const indexBuild = startIndexBuild({ databaseUrl: directUrl(config), clock, log });
  runner.defer('index build', () => indexBuild.stop());
  const tokenUses = startTokenUses({ db, clock, registry, log });
  runner.defer('token uses', () => tokenUses.stop());
  const messaging = startMessaging(config, { db, clock, registry, log, tokenUses });
  runner.defer('messaging', () => messaging.stop());
  readiness.messaging = () => messaging.state();
  readiness.dataPlaneFaults = () => messaging.dataPlaneFaults();

  const authenticator = createAuthenticator({
    db,
    clock,
    tokenUses,
    authFailureLimit: config.AUTH_FAILURE_LIMIT,
    managementRateLimit: config.MANAGEMENT_RATE_LIMIT,
  });
  observeLinks(registry, config);
  observeDroppedCounters(registry, () => authenticator.droppedCounters());
  const hosts = {
    denied: config.UPSTREAM_DENY_CIDRS,
    resolveName: createResolveName(clock, resolveBySystem(ALL_ADDRESSES, clock)),
    reserved: config.RESERVED_HOSTS,
  };
  const metrics = createHttpMetrics(registry);
  const credentials = new CredentialVault(config.GATEWAY_MASTER_KEYS, systemRandom);
  const idempotencyKeys = {
    db,
    vault: new SecretVault(config.GATEWAY_MASTER_KEYS, 'idempotent-responses', systemRandom),
    nowMs: () => clock.nowMs(),
  };
  const app = createApp({
    db,
    consoleFolder: CONSOLE_FOLDER,
    docsFolder: DOCS_FOLDER,
    idempotencyKeys,
    authenticator,
    clock,
    newId,
    log,
    metrics,
    waits: messaging.waits,
    sending: createConsoleSend(config.DATA_PLANE_URL, registry, {
      ...parts,
      waits: messaging.waits,
    }),
    trustedProxies: config.TRUSTED_PROXIES,
    tracing: tracing === undefined ? undefined : traceCalls(tracing, systemRandom, clock),
    endpoints: managementEndpoints({
      ...parts,
      hosts,
      credentials,
      masterKeys: config.GATEWAY_MASTER_KEYS,
      links: config,
      dataPlanes: messaging.dataPlanes,
      ask: messaging.ask,
      statusOf: (id) => messaging.serviceStatus(id),
      servicesByStatus: () => messaging.servicesByStatus(),
    }),
  });
  const certificate = await openCertificate(config, runner, { clock, log, registry });
  const server = await startServer(app, {
    log,
    host: config.CONTROL_PLANE_HOST,
    port: config.CONTROL_PLANE_PORT,
    clock,
    newId,
    authFailureLimit: config.AUTH_FAILURE_LIMIT,
    metrics,
    certificate,
  });
  runner.defer('management API', () => {
    stopping.abort();
    messaging.waits.stop();
    return server.close();
  });
  log.info({ port: server.port, admin_port: admin.port }, 'ready');
  await messaging.started;
}

const config = load();
const processLog = openLog(IDENTITY, config.LOG_LEVEL);
const { log } = processLog;
await runProcess({ name: NAME, log, clock, stopTimeoutMs: STOP_TIMEOUT_MS }, (runner) =>
  start(runner, config, processLog),
);
