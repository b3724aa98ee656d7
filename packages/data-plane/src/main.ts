import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { waitUntil } from '@gateway/shared/clock';
import { systemRandom } from '@gateway/shared/ids';
import { MAX_OVERLOADED_SERVICES } from '@gateway/shared/heartbeats/heartbeat';
import {
  assertServerVersion,
  connectNats,
  logServerVersion,
} from '@gateway/shared/messaging/connection';
import { NAMES } from '@gateway/shared/messaging/names';
import { openTelemetry } from '@gateway/shared/opentelemetry/open-telemetry';
import { startAdminServer, type AdminServerOptions } from '@gateway/shared/telemetry/admin-server';
import { collectProcessMetrics } from '@gateway/shared/telemetry/process-metrics';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import { Registry } from 'prom-client';
import { assemble } from './assembly.ts';
import { identityOf } from './config.ts';
import { runDataPlane, type DataPlaneProcess } from './run-data-plane.ts';
import { NatsIdempotencyStore } from './idempotency/store/nats-store.ts';
import { FleetMembership } from './quota/fleet/fleet-membership.ts';
import { KvFleetStore } from './quota/fleet/kv-fleet-store.ts';
import { KvQuotaLedger } from './quota/ledger/kv-ledger.ts';
import { LeasedQuotaStore } from './quota/leased-quota-store.ts';
import { answerRecalls, recallOverNats } from './quota/recall/nats-recall.ts';
import { createLeaseWaits, registerQuotaMetrics } from './quota/quota-metrics.ts';
import { openSavedPlace } from './quota/fleet/saved-place.ts';
import { describeSkew } from './heartbeats/clock-skew.ts';
import { startConfigurationFeed } from './configuration/configuration-feed.ts';
import { answerExplains } from './explain/answer-explains.ts';
import { startHeartbeats } from './heartbeats/heartbeats.ts';
import { openLastGood } from './configuration/last-good.ts';
import { registerBucketMetrics } from './nats/bucket-metrics.ts';
import { linkNats } from './nats/nats-link.ts';
import { createRecordStream } from './records/record-stream.ts';
import { reportConfiguration } from './configuration/configuration-report.ts';
import { lockDataFolder } from './workers/lock-data-folder.ts';
import { prepareWorkerFolders } from './workers/worker-folders.ts';

/**
 * Delay before one garbage collection after the first configuration is loaded. Loading leaves several
 * times the size of the configuration behind, and V8 would keep it as long as there is room.
 */
const FIRST_COLLECTION_MS = 250;
const MAX_QUOTA_COUNTERS = 100_000;
/** Unique over all data planes. Each quota entry stores one. */
const LEASE_ID_BYTES = 12;
/** How long a start waits for NATS before it serves without NATS. */
const FIRST_CONTACT_MS = 1000;
/** How long a worker waits for a first configuration before it accepts connections without one. */
const FIRST_CONFIGURATION_MS = 30_000;
const RECORD_FLUSH_MS = 5_000;
const OTLP_FLUSH_MS = 2_000;

/**
 * Builds and starts a data plane: it reads the configuration, serves the data path, and sends records and
 * heartbeats. Resolves when the data plane serves, with the configuration that it has by then. A worker that joins others
 * waits for its first configuration.
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
  if (group === undefined) {
    await lockDataFolder(config.DATA_PLANE_DATA_DIR, runner, log);
    await prepareWorkerFolders(config.DATA_PLANE_DATA_DIR, 1, log);
  }

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

  let reportSoon: () => void = () => undefined;
  const assembly = assemble({
    config,
    runner,
    clock,
    random: systemRandom,
    log,
    registry,
    onHealthChange: () => reportSoon(),
    onServed(first) {
      reportSoon();
      if (first) clock.setTimer(FIRST_COLLECTION_MS, () => globalThis.gc?.());
    },
  });

  const records = createRecordStream({
    link,
    dataPlaneId: config.DATA_PLANE_ID,
    spoolDir: join(config.DATA_PLANE_DATA_DIR, 'spool'),
    maxMemoryBytes: config.MAX_RECORD_MEMORY_BYTES,
    maxSpoolBytes: config.MAX_RECORD_SPOOL_BYTES,
    random: Math.random,
    clock,
    log,
    registry,
  });
  const telemetry = await openTelemetry({
    settings: config,
    identity: identityOf(config),
    clock,
    log,
    registry,
  });
  runner.defer('records and OTLP', async () => {
    await Promise.all([records.close(RECORD_FLUSH_MS), telemetry.close(OTLP_FLUSH_MS)]);
  });

  const feed = startConfigurationFeed({
    link,
    keys: config.GATEWAY_MASTER_KEYS,
    lastGood: openLastGood(
      join(config.DATA_PLANE_DATA_DIR, 'last-good'),
      config.GATEWAY_MASTER_KEYS,
      log,
    ),
    sink: assembly.sink,
    clock,
    random: Math.random,
    log,
    registry,
  });
  runner.defer('configuration', () => feed.stop());

  let inFlight = () => 0;
  const heartbeats = startHeartbeats({
    link,
    dataPlaneId: config.DATA_PLANE_ID,
    region: config.REGION,
    clock,
    log,
    registry,
    report: () => ({
      ...reportConfiguration(feed.status),
      in_flight: inFlight(),
      services: assembly.health.report(),
      ...assembly.health.reportUpstreams(),
      unusable_credentials: [...assembly.credentials.unusable()],
      ...assembly.unusable.heartbeat(),
      overloaded_services: assembly.overloads.recent().slice(0, MAX_OVERLOADED_SERVICES),
    }),
  });
  reportSoon = () => heartbeats.beatSoon();
  runner.defer('heartbeats', () => heartbeats.stop());

  const timeKnown = () => heartbeats.serverTimeOffsetMs() !== undefined;

  let open = false;
  const draining = new AbortController();
  const adminOptions: AdminServerOptions = {
    host: config.DATA_PLANE_ADMIN_HOST,
    port: config.DATA_PLANE_ADMIN_PORT,
    portVariable: 'DATA_PLANE_ADMIN_PORT',
    log,
    registry,
    exemplars: telemetry.tracing !== undefined,
    notReady: () => [
      ...(feed.isLoaded() ? [] : ['the configuration is not completely loaded']),
      ...(open ? [] : ['the data path is not open yet']),
      ...(stopping.signal.aborted || draining.signal.aborted ? ['stopping'] : []),
    ],
    degraded: () => [
      ...(feed.status.connected ? [] : ['not connected to NATS: the configuration may be old']),
      ...[feed.status.lastError, feed.status.lastGoodError, records.problem].filter(isText),
      ...assembly.credentials.reasons(),
      ...assembly.unusable.reasons(),
      ...[describeSkew(heartbeats.serverTimeOffsetMs()), heartbeats.problem].filter(isText),
      ...assembly.names.reasons(),
      ...assembly.overloads.reasons(),
    ],
  };
  const admin = group?.answer(adminOptions) ?? (await startAdminServer(adminOptions));
  runner.defer('admin server', () => admin.close());

  const place = openSavedPlace(join(config.DATA_PLANE_DATA_DIR, 'quota-place'), log);
  const saved = place.load();
  const ownSlot = () => membership.view.own?.slot;
  const membership: FleetMembership = new FleetMembership({
    store: new KvFleetStore(link, clock),
    id: config.DATA_PLANE_ID,
    clock,
    log,
    serverMs: () => clock.nowMs() + (heartbeats.serverTimeOffsetMs() ?? 0),
    timeKnown,
    isLive: (id) => heartbeats.isLive(id),
    onShareChange: (next) => quotas.shareChanged(next),
    hasDebts: () => quotas.hasDebts(),
    handOver: () => quotas.handOver(),
    saved,
    save: (next) => place.save(next),
  });
  runner.defer('quota fleet', () => membership.leave());
  const leaseWaits = createLeaseWaits(registry);
  const nodes = () => membership.view.others.length + 1;
  const ledger = new KvQuotaLedger(link, clock, nodes);
  const keyStore = new NatsIdempotencyStore(link, clock, nodes);
  const keyBucket = [NAMES.idempotencyBucket, keyStore.bounds] as const;
  registerBucketMetrics(registry, new Map([...ledger.bounds, keyBucket]));
  const quotas: LeasedQuotaStore = new LeasedQuotaStore({
    ledger,
    fleet: membership,
    recall: recallOverNats(link, ownSlot),
    clock,
    log,
    maxCounters: MAX_QUOTA_COUNTERS,
    leftovers: saved?.leftovers,
    leaseWaited: (seconds) => leaseWaits.observe(seconds),
    serverTimeOffsetMs: () => heartbeats.serverTimeOffsetMs(),
    serverTimeErrorMs: () => heartbeats.serverTimeErrorMs(),
    newLeaseId: () => randomBytes(LEASE_ID_BYTES).toString('base64url'),
  });
  membership.start();
  answerRecalls(link, {
    slot: ownSlot,
    release: (recalled) => quotas.release(recalled),
  });
  registerQuotaMetrics(registry, quotas);

  const certificate = await openCertificate(config, runner, { clock, log, registry });

  await feed.restored;
  // Otherwise the first requests would get quota shares as if there were no other data plane.
  await waitUntil(clock, FIRST_CONTACT_MS, timeKnown);
  if (group?.startsGroup !== false) assertServerVersion(link.connection);
  void nats.then(
    (connection) => logServerVersion(connection, log),
    () => undefined,
  );
  const dataPath = await assembly.open({
    ready: () => feed.isLoaded(),
    complete: () => feed.isComplete(),
    quotas,
    idempotencyStore: keyStore,
    clockOffsetMs: () => heartbeats.serverTimeOffsetMs(),
    connections: group?.acceptConnections,
    certificate,
    addRecord: (record) => records.add(record),
    tracing: telemetry.tracing,
  });
  open = true;
  inFlight = () => dataPath.inFlight();
  const explain = dataPath.explainWith(quotas);
  answerExplains(link, { dataPlaneId: config.DATA_PLANE_ID, explain, log });
  runner.defer('data path', () => {
    draining.abort();
    return dataPath.stop();
  });
  // Without a configuration it would refuse requests that the other workers serve.
  if (group?.startsGroup === false) {
    await waitUntil(
      clock,
      FIRST_CONFIGURATION_MS,
      () => draining.signal.aborted || feed.isLoaded(),
    );
  }
  if (draining.signal.aborted) return;
  group?.serving();
  log.info({ port: dataPath.port, admin_port: admin.port }, 'ready');
}

function isText(reason: string | undefined): reason is string {
  return reason !== undefined;
}

await runDataPlane(start);
