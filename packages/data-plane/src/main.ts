import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@gateway/shared/clock';
import { withCoarseTimers } from '@gateway/shared/coarse-timers';
import { ConfigError } from '@gateway/shared/config/environment';
import { systemRandom } from '@gateway/shared/ids';
import { connectNats } from '@gateway/shared/messaging/connection';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { runProcess, type Runner } from '@gateway/shared/runner';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { startAdminServer } from '@gateway/shared/telemetry/admin-server';
import { createLogger, type Logger } from '@gateway/shared/telemetry/logger';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { readConfig, type Config } from './config.ts';
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
import { startConfigSync } from './sync/config-sync.ts';
import { startHeartbeats } from './sync/heartbeats.ts';
import type { Served } from './sync/environment-intake.ts';
import { openLastGood } from './sync/last-good.ts';
import { linkNats } from './sync/nats-link.ts';
import { createRecordStream } from './sync/record-stream.ts';
import { TableHolder } from './table/table-holder.ts';
import { CredentialReport } from './telemetry/credential-report.ts';
import { createUpstreamCheck } from './upstream/health/check-upstream.ts';
import { UpstreamHealth } from './upstream/health/upstream-health.ts';
import { guardedLookup } from './upstream/guarded-lookup.ts';
import { UpstreamPools } from './upstream/pools.ts';

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

async function start(runner: Runner, config: Config, log: Logger): Promise<void> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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

  const lookup = guardedLookup(config.UPSTREAM_DENY_CIDRS);
  const pools = {
    clock,
    lookup,
    maxConnections: config.MAX_UPSTREAM_CONNECTIONS,
    connectTimeoutMs: config.CONNECT_TIMEOUT_MS,
    bodyIdleTimeoutMs: config.BODY_IDLE_TIMEOUT_MS,
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
    apply(snapshot) {
      const first = !table.current.environments.has(snapshot.environment);
      table.apply(snapshot);
      credentials.applied(table.current);
      upstreams.retain(table.upstreamKeys);
      health.reconcile(table.current);
      keySets.retain(table.keySetUrls);
      if (first) clock.setTimer(FIRST_COLLECTION_MS, () => globalThis.gc?.());
    },
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
      last_error: sync.status.lastError?.slice(0, MAX_ERROR_CHARS) ?? null,
      services: health.report(),
      unusable_credentials: [...credentials.unusable()],
    }),
  });
  changed = () => heartbeats.beatSoon();
  runner.defer('heartbeats', () => heartbeats.stop());

  let open = false;
  let draining = false;
  const admin = await startAdminServer({
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
      ...(sync.status.lastError === undefined ? [] : [sync.status.lastError]),
      ...credentials.reasons(),
    ],
  });
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
  log.info({ port: dataPath.port, admin_port: admin.port }, 'data plane serves');
}

function versionsOf(environments: ReadonlyMap<string, Served>): Record<string, number> {
  return Object.fromEntries([...environments].map(([name, { version }]) => [name, version]));
}

const clock = withCoarseTimers(systemClock, TIMER_TICK_MS);
const config = load();
const log = createLogger(config.DATA_PLANE_ID, config.LOG_LEVEL);
await runProcess(
  {
    name: 'data plane',
    log,
    clock,
    stopTimeoutMs: config.DRAIN_TIMEOUT_MS + STOP_MARGIN_MS,
  },
  (runner) => start(runner, config, log),
);
