import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@gateway/shared/clock';
import { withCoarseTimers } from '@gateway/shared/coarse-timers';
import { ConfigError } from '@gateway/shared/config/environment';
import { MAX_CONFIG_ERROR_CHARS, MAX_CONFIG_ERRORS } from '@gateway/shared/heartbeats/heartbeat';
import { systemRandom } from '@gateway/shared/ids';
import { connectNats } from '@gateway/shared/messaging/connection';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { startAdminServer, type AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { openLog, type ProcessLog } from '@gateway/shared/telemetry/logger';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { readConfig, type Config } from './config.ts';
import { serveConfiguration } from './serve-configuration.ts';
import { startDataPath } from './server/data-path.ts';
import { createFetchKeySet } from './state/fetch-key-set.ts';
import { KeySetVerifier } from './state/jwt-verifier.ts';
import { KeySets } from './state/key-sets.ts';
import { NatsIdempotencyStore } from './state/idempotency/nats-store.ts';
import { openIdempotencyKeys } from './state/idempotency/open-keys.ts';
import { KvQuotaLedger } from './state/quota/kv-ledger.ts';
import { LeasedQuotaStore } from './state/quota/leased-quota-store.ts';
import { registerQuotaMetrics } from './state/quota/quota-metrics.ts';
import { whenTimeKnown } from './state/quota/server-clock.ts';
import { describeSkew } from './sync/clock-skew.ts';
import { startConfigSync } from './sync/config-sync.ts';
import { startHeartbeats } from './sync/heartbeats.ts';
import type { Served } from './sync/served-configuration.ts';
import { openLastGood } from './sync/last-good.ts';
import { linkNats } from './sync/nats-link.ts';
import { createRecordStream } from './sync/record-stream.ts';
import { TableHolder } from './table/table-holder.ts';
import { CredentialReport } from './telemetry/credential-report.ts';
import { createUpstreamCheck } from './upstream/health/check-upstream.ts';
import { UpstreamHealth } from './upstream/health/upstream-health.ts';
import { guardedLookup } from './upstream/guarded-lookup.ts';
import { NameCache } from './upstream/names/name-cache.ts';
import { registerNameMetrics } from './upstream/names/name-metrics.ts';
import { resolveByServers, resolveBySystem } from './upstream/names/resolve-name.ts';
import { UpstreamPools } from './upstream/pools.ts';
import { joinGroup, type JoinedGroup } from './workers/join-group.ts';
import { runWorkers } from './workers/run-workers.ts';
import { prepareWorkerFolders } from './workers/worker-folders.ts';
import { settingsOfWorker } from './workers/worker-settings.ts';

/** Deadlines and idle times need no better; a request sets several and cancels nearly all. */
const TIMER_TICK_MS = 5;
/**
 * Reading a first configuration leaves several times its size behind, which V8 would carry along for as
 * long as there is room. It is collected once, when nothing holds it any more.
 */
const FIRST_COLLECTION_MS = 250;
const MAX_QUOTA_COUNTERS = 100_000;
/** How long a start waits for NATS to answer before it serves without it. */
const FIRST_CONTACT_MS = 1000;
/** Beyond the drain: for records to be flushed and connections to be closed. */
const STOP_MARGIN_MS = 8_000;
const RECORD_FLUSH_MS = 5_000;
/** What a heartbeat says of an error. */
const MAX_ERROR_CHARS = 1000;

function load(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`data plane cannot start: ${error.message}\n`);
    process.exit(1);
  }
}

async function start(
  runner: Runner,
  config: Config,
  { log, observe }: ProcessLog,
  group: JoinedGroup | undefined,
): Promise<void> {
  const registry = new Registry();
  observe(registry);
  collectDefaultMetrics({ register: registry });
  // Of a group the primary has done that.
  if (group === undefined) await prepareWorkerFolders(config.DATA_PLANE_DATA_DIR, 1, log);
  const table = new TableHolder(new CredentialVault(config.GATEWAY_MASTER_KEYS, systemRandom));
  const credentials = new CredentialReport(log, registry);

  const stopping = new AbortController();
  const nats = connectNats({
    url: config.NATS_URL,
    name: config.DATA_PLANE_ID,
    log,
    clock,
    signal: stopping.signal,
  });
  runner.defer('NATS', async () => {
    stopping.abort();
    const connection = await nats.catch(() => undefined);
    await connection?.close();
  });

  const names = new NameCache({
    resolve:
      config.DNS_SERVERS.length > 0 ? resolveByServers(config.DNS_SERVERS, clock) : resolveBySystem,
    staleMs: config.DNS_STALE_MS,
    clock,
    log,
  });
  registerNameMetrics(registry, names);
  const lookup = guardedLookup(config.UPSTREAM_DENY_CIDRS, names.lookup);
  const pools = {
    clock,
    lookup,
    maxConnections: config.MAX_UPSTREAM_CONNECTIONS,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
    bodyIdleTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
    maxConnectionAgeMs: config.UPSTREAM_CONNECTION_MAX_AGE_MS,
  };
  const upstreams = new UpstreamPools({ ...pools, deny: config.UPSTREAM_DENY_CIDRS });
  const controlPlane = new UpstreamPools({ ...pools, deny: parseAddressRanges([]) });
  const checks = new UpstreamPools({ ...pools, deny: config.UPSTREAM_DENY_CIDRS });
  runner.defer('upstream connections', () => {
    upstreams.close();
    controlPlane.close();
    checks.close();
  });

  const fetchKeySet = createFetchKeySet({ clock, lookup, deny: config.UPSTREAM_DENY_CIDRS });
  const keySets = new KeySets({ fetch: fetchKeySet, clock, random: Math.random, log, registry });
  runner.defer('key sets', () => keySets.close());

  const records = createRecordStream({
    nats,
    dataPlaneId: config.DATA_PLANE_ID,
    spoolDir: join(config.DATA_PLANE_DATA_DIR, 'spool'),
    maxMemoryBytes: config.MAX_RECORD_MEMORY_BYTES,
    maxSpoolBytes: config.MAX_RECORD_SPOOL_BYTES,
    clock,
    log,
    registry,
  });
  runner.defer('records', () => records.close(RECORD_FLUSH_MS));

  let changed: () => void = () => undefined;
  const health = new UpstreamHealth({
    clock,
    log,
    registry,
    selection: { region: config.REGION, load: upstreams, random: Math.random },
    check: createUpstreamCheck(checks),
    maxParallelChecks: config.MAX_PARALLEL_HEALTH_CHECKS,
    onChange: () => changed(),
  });
  runner.defer('health checks', () => health.stop());

  const sync = startConfigSync({
    nats,
    keys: config.GATEWAY_MASTER_KEYS,
    lastGood: openLastGood(
      join(config.DATA_PLANE_DATA_DIR, 'last-good'),
      config.GATEWAY_MASTER_KEYS,
      log,
    ),
    clock,
    log,
    registry,
    ...serveConfiguration({
      ...{ table, credentials, upstreams, health, keySets },
      onServed(first) {
        changed();
        if (first) clock.setTimer(FIRST_COLLECTION_MS, () => globalThis.gc?.());
      },
    }),
  });
  runner.defer('configuration', () => sync.stop());

  let inFlight = () => 0;
  const heartbeats = startHeartbeats({
    nats,
    dataPlaneId: config.DATA_PLANE_ID,
    region: config.REGION,
    clock,
    log,
    registry,
    report: () => ({
      config_versions: versionsOf(sync.status.environments),
      in_flight: inFlight(),
      config_errors: errorsOf(sync.status.errors),
      last_error: sync.status.lastError?.slice(0, MAX_ERROR_CHARS) ?? null,
      services: health.report(),
      unusable_credentials: [...credentials.unusable()],
    }),
  });
  changed = () => heartbeats.beatSoon();
  runner.defer('heartbeats', () => heartbeats.stop());

  let open = false;
  let draining = false;
  const adminOptions: AdminServerOptions = {
    host: config.DATA_PLANE_ADMIN_HOST,
    port: config.DATA_PLANE_ADMIN_PORT,
    portVariable: 'DATA_PLANE_ADMIN_PORT',
    registry,
    notReady: () => [
      ...(sync.isLoaded() ? [] : ['the configuration is not loaded yet, or not all of it']),
      ...(open ? [] : ['the data path is not open yet']),
      ...(stopping.signal.aborted || draining ? ['stopping'] : []),
    ],
    degraded: () => [
      ...(sync.status.connected ? [] : ['NATS is away: the configuration may be old']),
      ...[sync.status.lastError, sync.status.lastGoodError, records.problem].filter(isText),
      ...credentials.reasons(),
      ...[describeSkew(heartbeats.serverTimeOffsetMs())].filter(isText),
      ...(names.staleNames === 0 ? [] : [`${names.staleNames} names of upstreams do not resolve`]),
    ],
  };
  const admin = group?.answer(adminOptions) ?? (await startAdminServer(adminOptions));
  runner.defer('admin server', () => admin.close());

  const stores = linkNats(nats, log);
  const quotas = new LeasedQuotaStore({
    ledger: new KvQuotaLedger(stores),
    clock,
    log,
    maxCounters: MAX_QUOTA_COUNTERS,
    liveNodes: () => heartbeats.liveDataPlanes(),
    serverTimeOffsetMs: () => heartbeats.serverTimeOffsetMs(),
    serverTimeErrorMs: () => heartbeats.serverTimeErrorMs(),
    newLeaseId: randomUUID,
  });
  registerQuotaMetrics(registry, quotas);

  const certificate = await openCertificate(config, runner, { clock, log, registry });

  await sync.restored;
  // Else the first requests would be granted by share, as if there were no other data plane.
  await whenTimeKnown(heartbeats, clock, FIRST_CONTACT_MS);
  const dataPath = await startDataPath({
    config,
    clock,
    random: systemRandom,
    log,
    registry,
    table: () => table.current,
    ready: (environment) =>
      sync.isLoaded() && (environment === undefined || !sync.isUnserved(environment)),
    upstreams,
    balancers: health,
    controlPlane,
    lookup,
    deny: config.UPSTREAM_DENY_CIDRS,
    quotas,
    jwts: new KeySetVerifier({ keySets, clock, registry }),
    idempotency: openIdempotencyKeys({
      store: new NatsIdempotencyStore(stores),
      masterKeys: config.GATEWAY_MASTER_KEYS,
      clock,
      clockOffsetMs: () => heartbeats.serverTimeOffsetMs(),
      random: systemRandom,
      log,
      registry,
      maxWaiting: config.MAX_IDEMPOTENT_WAITERS,
    }),
    certificate,
    addRecord: (requestId, json) => records.add(requestId, json),
  });
  open = true;
  inFlight = () => dataPath.inFlight();
  runner.defer('data path', () => {
    draining = true;
    return dataPath.stop();
  });
  group?.serving();
  log.info({ port: dataPath.port, admin_port: admin.port }, 'data plane serves');
}

function isText(reason: string | undefined): reason is string {
  return reason !== undefined;
}

function versionsOf(environments: ReadonlyMap<string, Served>): Record<string, number> {
  return Object.fromEntries([...environments].map(([name, { version }]) => [name, version]));
}

/** Within what a heartbeat has room for; the first ones, where there are more. */
function errorsOf(errors: ReadonlyMap<string, string>): Record<string, string> {
  const some = [...errors].slice(0, MAX_CONFIG_ERRORS);
  return Object.fromEntries(
    some.map(([name, why]) => [name, why.slice(0, MAX_CONFIG_ERROR_CHARS)]),
  );
}

async function runDataPlane(config: Config, group: JoinedGroup | undefined): Promise<void> {
  const processLog = openLog(config.DATA_PLANE_ID, config.LOG_LEVEL);
  const { log } = processLog;
  await runProcess({ name: 'data plane', log, clock, stopTimeoutMs }, async (runner) => {
    try {
      await start(runner, config, processLog, group);
    } catch (error) {
      group?.failed(error);
      throw error;
    }
  });
}

const clock = withCoarseTimers(systemClock, TIMER_TICK_MS);
const group = joinGroup();
const config = load();
const stopTimeoutMs = config.DRAIN_TIMEOUT_MS + STOP_MARGIN_MS;
if (group !== undefined) await runDataPlane(settingsOfWorker(config, group.worker), group);
else if (config.WORKERS > 1) await runWorkers(config, clock, stopTimeoutMs);
else await runDataPlane(config, undefined);
