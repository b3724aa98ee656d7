import { pause, type Clock } from '@gateway/shared/clock';
import { systemRandom } from '@gateway/shared/ids';
import { assertServerVersion, connectNats } from '@gateway/shared/messaging/connection';
import { ensureTopology } from '@gateway/shared/messaging/topology';
import { createRunner } from '@gateway/shared/runner';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import { directUrl, type Config } from './config.ts';
import type { ServicesByStatus } from './services/service-health-filter.ts';
import type { ServiceStatus } from './services/service.ts';
import {
  credentialFaults,
  serviceStatus,
  servicesByStatus,
  unusableConfiguration,
} from './data-planes/fleet-health.ts';
import { createFleetMetrics } from './data-planes/fleet-metrics.ts';
import { watchHeartbeats } from './data-planes/heartbeat-watch.ts';
import { createNatsAsk } from './data-planes/nats-ask.ts';
import type { AskDataPlane } from './data-planes/ask-data-planes.ts';
import { createIngestMetrics } from './requests/ingest/ingest-metrics.ts';
import { startRecordIngest } from './requests/ingest/record-ingest.ts';
import type { TokenUses } from './access/token-uses.ts';
import { createNatsSnapshotStore } from './publish/nats-snapshot-store.ts';
import { createPublishMetrics } from './publish/publish-metrics.ts';
import { createPublisher } from './publish/publisher.ts';
import type { SnapshotStore } from './publish/snapshot-store.ts';
import { DataPlanes } from './data-planes/data-planes.ts';
import { RolloutWaits } from './data-planes/rollout-waits.ts';
import { createWaitMetrics } from './data-planes/wait-metrics.ts';
import type { Database } from './store/database.ts';
import {
  readPublicationTargets,
  readPublishedTargets,
} from './publish/store/publication-targets.ts';
import { createPublisherSession } from './publish/store/publisher-session.ts';

const DRAIN_MS = 2000;
const PREPARE_RETRY_MS = 500;
const LOG_EVERY_ATTEMPTS = 20;

export interface MessagingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly log: Logger;
  readonly tokenUses: TokenUses;
}

export interface Messaging {
  /** Rejects if the start fails for a reason that waiting does not solve. */
  readonly started: Promise<void>;
  /** `waiting` until the first connection, then `connected` or `disconnected`. */
  state(): 'waiting' | 'connected' | 'disconnected';
  /** The health of a service, as the live data planes report it. */
  serviceStatus(serviceId: string): ServiceStatus;
  /** The services that live data planes report, by status. */
  servicesByStatus(): ServicesByStatus;
  /** One line for each live data plane that cannot decrypt some upstream credential, or use some of the configuration. */
  dataPlaneFaults(): readonly string[];
  /** The data planes and the configuration that they serve. */
  readonly dataPlanes: DataPlanes;
  readonly ask: AskDataPlane;
  /** The writes that wait for the data planes. */
  readonly waits: RolloutWaits;
  stop(): Promise<void>;
}

/**
 * Starts everything that needs NATS: the heartbeat watch, the ingest of records and the publisher. It waits for NATS in
 * the background. Until then the management API serves and changes wait in the outbox.
 */
export function startMessaging(config: Config, deps: MessagingDeps): Messaging {
  const { db, clock, registry, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const runner = createRunner(log);
  const publishMetrics = createPublishMetrics(registry);
  const ingestMetrics = createIngestMetrics(registry);
  const dataPlanes = new DataPlanes();
  const live = () => dataPlanes.live(clock.monotonicMs());
  const fleetMetrics = createFleetMetrics(registry, {
    liveDataPlanes: () => live().length,
    withUnusableCredentials: () => credentialFaults(live()).length,
  });
  let store: SnapshotStore | undefined;
  let askConnected: AskDataPlane | undefined;
  const waits = new RolloutWaits({
    dataPlanes,
    clock,
    log,
    metrics: createWaitMetrics(registry),
    readTargets: (environments) => readPublicationTargets(db, environments),
    readPublished: (targets) => readPublishedTargets(db, targets),
    isConnected: () => store?.isConnected() === true,
  });

  async function start(): Promise<void> {
    const connection = await connectNats({
      url: config.NATS_URL,
      name: 'gateway-control-plane',
      log,
      clock,
      signal,
    });
    runner.defer('NATS', async () => {
      // A drain would wait for a server that is unreachable.
      await Promise.race([connection.drain().catch(() => undefined), pause(clock, DRAIN_MS)]);
      await connection.close();
    });
    assertServerVersion(connection);
    const prepare = () =>
      ensureTopology(connection, {
        replicas: config.NATS_REPLICAS,
        maxRecordStreamBytes: config.RECORD_STREAM_MAX_BYTES,
        maxQuotaBytes: config.QUOTA_MAX_BYTES,
        maxIdempotencyBytes: config.IDEMPOTENCY_MAX_BYTES,
        recordAckWaitMs: config.RECORD_ACK_WAIT_MS,
      });
    await prepareNats(prepare, { clock, log, signal });
    const opened = await createNatsSnapshotStore(connection, prepare);
    signal.throwIfAborted();
    const heartbeats = { connection, prepare, dataPlanes, clock, log };
    const watch = watchHeartbeats({ ...heartbeats, metrics: fleetMetrics });
    runner.defer('heartbeats', () => watch.stop());
    const metrics = ingestMetrics;
    const { tokenUses } = deps;
    const ingest = startRecordIngest({
      db,
      connection,
      prepare,
      ackWaitMs: config.RECORD_ACK_WAIT_MS,
      documents: config.RECORD_DOCUMENTS,
      clock,
      log,
      metrics,
      tokenUses,
    });
    runner.defer('record ingest', () => ingest.stop());
    const publisher = createPublisher({
      db,
      store: opened,
      clock,
      log,
      random: systemRandom,
      metrics: publishMetrics,
      openSession: (news) => createPublisherSession(directUrl(config), news),
      keys: config.GATEWAY_MASTER_KEYS,
      reservedHosts: config.RESERVED_HOSTS,
      servedVersion: (name) => dataPlanes.newestVersion(name, clock.monotonicMs()),
      onPublished: () => waits.published(),
    });
    runner.defer('publisher', () => publisher.stop());
    askConnected = createNatsAsk(connection);
    store = opened;
  }

  const started = start().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    started,
    state: () =>
      store === undefined ? 'waiting' : store.isConnected() ? 'connected' : 'disconnected',
    serviceStatus: (serviceId) => serviceStatus(live(), serviceId),
    servicesByStatus: () => servicesByStatus(live()),
    dataPlaneFaults: () => [...credentialFaults(live()), ...unusableConfiguration(live())],
    dataPlanes,
    ask(...question) {
      const isUp = store?.isConnected() === true;
      if (!isUp || askConnected === undefined) return Promise.resolve({ kind: 'away' });
      return askConnected(...question);
    },
    waits,
    async stop() {
      waits.stop();
      stopping.abort();
      await started.catch(() => undefined);
      const error = await runner.stop();
      if (error !== undefined) throw error;
    },
  };
}

/** JetStream may start later than the server, or have no quorum at first. */
async function prepareNats(
  prepare: () => Promise<void>,
  { clock, log, signal }: { clock: Clock; log: Logger; signal: AbortSignal },
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      await prepare();
      return;
    } catch (error) {
      if (attempt % LOG_EVERY_ATTEMPTS === 0) {
        log.warn({ reason: String(error) }, 'JetStream not ready; retrying');
      }
      await pause(clock, PREPARE_RETRY_MS, signal);
    }
  }
}
