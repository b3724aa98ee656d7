import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemRandom } from '@gateway/shared/ids';
import { connectNats } from '@gateway/shared/messaging/connection';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import { startAdminServer, type AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import { Registry } from 'prom-client';
import { runDataPlane, type DataPlaneProcess } from './run-data-plane.ts';
import { serveConfiguration } from './configuration/serve-configuration.ts';
import { startDataPath } from './data-path.ts';
import { createFetchKeySet } from './access/jwt/fetch-key-set.ts';
import { KeySetVerifier } from './access/jwt/jwt-verifier.ts';
import { KeySets } from './access/jwt/key-sets.ts';
import { NatsIdempotencyStore } from './idempotency/nats-store.ts';
import { openIdempotencyKeys } from './idempotency/open-keys.ts';
import { KvQuotaLedger } from './quota/kv-ledger.ts';
import { LeasedQuotaStore } from './quota/leased-quota-store.ts';
import { registerQuotaMetrics } from './quota/quota-metrics.ts';
import { whenTimeKnown } from './quota/server-clock.ts';
import { describeSkew } from './heartbeats/clock-skew.ts';
import { startConfigSync } from './configuration/config-sync.ts';
import { startHeartbeats } from './heartbeats/heartbeats.ts';
import { openLastGood } from './configuration/last-good.ts';
import { linkNats } from './nats/nats-link.ts';
import { createRecordStream } from './records/record-stream.ts';
import { reportConfiguration } from './configuration/report-configuration.ts';
import { TableHolder } from './routing-table/table-holder.ts';
import { CredentialReport } from './telemetry/credential-report.ts';
import { createUpstreamCheck } from './upstream/health/check-upstream.ts';
import { UpstreamHealth } from './upstream/health/upstream-health.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';
import { prepareWorkerFolders } from './workers/worker-folders.ts';

/**
 * Delay before one garbage collection after the first configuration is loaded. Loading leaves several
 * times the size of the configuration behind, and V8 would keep it as long as there is room.
 */
const FIRST_COLLECTION_MS = 250;
const MAX_QUOTA_COUNTERS = 100_000;
/** How long a start waits for NATS before it serves without NATS. */
const FIRST_CONTACT_MS = 1000;
const RECORD_FLUSH_MS = 5_000;

/**
 * Builds and starts a data plane: it reads the configuration, serves the data path, and sends records and
 * heartbeats. Resolves when the data plane serves, with the configuration that it has by then.
 *
 * @throws {ConfigError} or the error of a port or a folder, in one line
 */
async function start({
  runner,
  config,
  clock,
  processLog,
  group,
}: DataPlaneProcess): Promise<void> {
  const { log } = processLog;
  const registry = new Registry();
  processLog.observe(registry);
  collectProcessMetrics(registry, clock);
  // In a group the primary has done this.
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
  const link = linkNats(nats, log);

  const { names, lookup, upstreams, controlPlane, checks } = openUpstreams(config, runner, {
    clock,
    log,
    registry,
  });

  const fetchKeySet = createFetchKeySet({ clock, lookup, deny: config.UPSTREAM_DENY_CIDRS });
  const keySets = new KeySets({ fetch: fetchKeySet, clock, random: Math.random, log, registry });
  runner.defer('key sets', () => keySets.close());

  const records = createRecordStream({
    link,
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
    link,
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
      table,
      credentials,
      upstreams,
      health,
      keySets,
      onServed(first) {
        changed();
        if (first) clock.setTimer(FIRST_COLLECTION_MS, () => globalThis.gc?.());
      },
    }),
  });
  runner.defer('configuration', () => sync.stop());

  let inFlight = () => 0;
  const heartbeats = startHeartbeats({
    link,
    dataPlaneId: config.DATA_PLANE_ID,
    region: config.REGION,
    clock,
    log,
    registry,
    report: () => ({
      ...reportConfiguration(sync.status),
      in_flight: inFlight(),
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
      ...[describeSkew(heartbeats.serverTimeOffsetMs()), heartbeats.problem].filter(isText),
      ...(names.staleNames === 0 ? [] : [`${names.staleNames} names of upstreams do not resolve`]),
    ],
  };
  const admin = group?.answer(adminOptions) ?? (await startAdminServer(adminOptions));
  runner.defer('admin server', () => admin.close());

  const quotas = new LeasedQuotaStore({
    ledger: new KvQuotaLedger(link),
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
  // Otherwise the first requests would get quota shares as if there were no other data plane.
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
    quotas,
    jwts: new KeySetVerifier({ keySets, clock, registry }),
    idempotency: openIdempotencyKeys({
      store: new NatsIdempotencyStore(link, clock),
      masterKeys: config.GATEWAY_MASTER_KEYS,
      clock,
      clockOffsetMs: () => heartbeats.serverTimeOffsetMs(),
      random: systemRandom,
      log,
      registry,
      maxWaiting: config.MAX_IDEMPOTENT_WAITERS,
    }),
    connections: group?.acceptConnections,
    certificate,
    addRecord: (record) => records.add(record),
  });
  open = true;
  inFlight = () => dataPath.inFlight();
  runner.defer('data path', () => {
    draining = true;
    return dataPath.stop();
  });
  group?.serving();
  log.info({ port: dataPath.port, admin_port: admin.port }, 'ready');
}

function isText(reason: string | undefined): reason is string {
  return reason !== undefined;
}

await runDataPlane(start);
