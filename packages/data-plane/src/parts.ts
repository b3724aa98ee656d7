import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '@gateway/shared/clock';
import { systemRandom, type RandomSource } from '@gateway/shared/ids';
import { connectNats } from '@gateway/shared/messaging/connection';
import { NAMES } from '@gateway/shared/messaging/names';
import { openTelemetry } from '@gateway/shared/opentelemetry/open-telemetry';
import type { Runner } from '@gateway/shared/runner';
import { CredentialVault } from '@gateway/shared/secrets/upstream-credential';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { openCertificate } from '@gateway/shared/tls/open-certificate';
import type { Registry } from 'prom-client';
import { createFetchKeySet } from './access/jwt/fetch-key-set.ts';
import { KeySetVerifier } from './access/jwt/jwt-verifier.ts';
import { Affinities } from './affinity/affinities.ts';
import { KeySets } from './access/jwt/key-sets.ts';
import { identityOf, type Config } from './config.ts';
import { createConfigurationSink } from './configuration-sink.ts';
import { openConnectionTests } from './connection-test-parts.ts';
import { startConfigurationFeed } from './configuration/configuration-feed.ts';
import { openLastGood } from './configuration/last-good.ts';
import { createHeartbeats } from './heartbeats/heartbeats.ts';
import { NatsIdempotencyStore } from './idempotency/store/nats-store.ts';
import { AdaptiveLimits } from './limits/adaptive/adaptive-limits.ts';
import { Overloads } from './limits/overloads.ts';
import { registerBucketMetrics } from './nats/bucket-metrics.ts';
import { linkNats } from './nats/nats-link.ts';
import { FleetMembership } from './quota/fleet/fleet-membership.ts';
import { KvFleetStore } from './quota/fleet/kv-fleet-store.ts';
import { openSavedPlace } from './quota/fleet/saved-place.ts';
import { LeasedQuotaStore } from './quota/leased-quota-store.ts';
import { KvQuotaLedger } from './quota/ledger/kv-ledger.ts';
import { createLeaseWaits, registerQuotaMetrics } from './quota/quota-metrics.ts';
import { answerRecalls, recallOverNats } from './quota/recall/nats-recall.ts';
import { createRecordStream } from './records/record-stream.ts';
import { InFlight } from './request/in-flight.ts';
import { CredentialReport } from './routing-table/credential-report.ts';
import { TableHolder } from './routing-table/table-holder.ts';
import { UnusableReport } from './routing-table/unusable-report.ts';
import type { NameResolver } from './upstream/dns/guarded-lookup.ts';
import { createUpstreamCheck, type CheckUpstream } from './upstream/health/check-upstream.ts';
import { UpstreamHealth } from './upstream/health/upstream-health.ts';
import { openUpstreams } from './upstream/open-upstreams.ts';

export interface PartsOptions {
  readonly config: Config;
  /** Closes the parts. */
  readonly runner: Runner;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface LocalPartsOptions extends PartsOptions {
  readonly random: RandomSource;
  /** The health of an upstream changed. */
  readonly onHealthChange: () => void;
  /** A new version is served; `first`: the first of its environment. */
  readonly onServed: (first: boolean) => void;
  readonly substitutes?: Substitutes;
}

/** What a test sets in place of real parts. */
export interface Substitutes {
  readonly resolve?: NameResolver | undefined;
  readonly health?: { readonly clock: Clock; readonly check: CheckUpstream | undefined };
}

export type LocalParts = ReturnType<typeof createLocalParts>;

/**
 * Builds the parts that need no NATS: those that follow the configuration, and those that requests share. They serve an
 * empty configuration until `sink` receives one.
 */
export function createLocalParts(options: LocalPartsOptions) {
  const { config, runner, clock, random, log, registry, substitutes = {} } = options;
  const opener = new CredentialVault(config.GATEWAY_MASTER_KEYS, random);
  const table = new TableHolder(opener);
  const credentials = new CredentialReport(log, registry);
  const unusable = new UnusableReport(log, registry);
  const overloads = new Overloads(registry, clock);
  const adaptiveLimits = new AdaptiveLimits(registry, () => clock.nowMs());
  const { names, lookup, upstreams, controlPlane, checks, openTest } = openUpstreams(
    config,
    runner,
    { clock, log, registry, resolve: substitutes.resolve },
  );
  const fetch = createFetchKeySet({ clock, lookup, deny: config.UPSTREAM_DENY_CIDRS });
  const keySets = new KeySets({ fetch, clock, random: Math.random, log, registry });
  runner.defer('key sets', () => keySets.close());
  // A test may count the timers of requests.
  const backgroundClock = substitutes.health?.clock ?? clock;
  const health = new UpstreamHealth({
    clock: backgroundClock,
    log,
    registry,
    selection: { region: config.REGION, load: upstreams, random: Math.random },
    check: substitutes.health?.check ?? createUpstreamCheck(checks),
    maxParallelChecks: config.MAX_PARALLEL_HEALTH_CHECKS,
    onChange: options.onHealthChange,
  });
  runner.defer('health checks', () => health.stop());
  const { onServed } = options;
  const follow = { table, credentials, unusable, upstreams, health, adaptiveLimits, keySets };
  return {
    config,
    runner,
    clock,
    backgroundClock,
    random,
    log,
    registry,
    table,
    credentials,
    unusable,
    overloads,
    adaptiveLimits,
    affinities: new Affinities(config.GATEWAY_MASTER_KEYS, random),
    names,
    upstreams,
    controlPlane,
    jwts: new KeySetVerifier({ keySets, clock, registry }),
    health,
    testService: openConnectionTests({ ...options, opener, table, openTest }),
    inFlight: new InFlight(),
    sink: createConfigurationSink({ ...follow, onServed }),
  };
}

/**
 * Delay before one garbage collection after the first configuration is loaded. Loading leaves several
 * times the size of the configuration behind, and V8 would keep it as long as there is room.
 */
const FIRST_COLLECTION_MS = 250;
const MAX_QUOTA_COUNTERS = 100_000;
/** Unique over all data planes. Each quota entry stores one. */
const LEASE_ID_BYTES = 12;
const RECORD_FLUSH_MS = 5_000;
const OTLP_FLUSH_MS = 2_000;

/** Builds all parts of a data plane, in the order in which they need each other. The runner closes them in reverse. */
export async function openParts(options: PartsOptions) {
  const { config, runner, clock, log, registry } = options;
  const keys = config.GATEWAY_MASTER_KEYS;
  const fileOf = (name: string) => join(config.DATA_PLANE_DATA_DIR, name);
  const dataPlaneId = config.DATA_PLANE_ID;

  const stopping = new AbortController();
  const { signal } = stopping;
  const nats = connectNats({ url: config.NATS_URL, name: dataPlaneId, log, clock, signal });
  runner.defer('NATS', async () => {
    stopping.abort();
    const connection = await nats.catch(() => undefined);
    await connection?.close();
  });
  const link = linkNats(nats, log);
  const heartbeats = createHeartbeats({
    link,
    dataPlaneId,
    region: config.REGION,
    clock,
    log,
    registry,
  });
  const local = createLocalParts({
    ...options,
    random: systemRandom,
    onHealthChange: () => heartbeats.beatSoon(),
    onServed(first) {
      heartbeats.beatSoon();
      if (first) clock.setTimer(FIRST_COLLECTION_MS, () => globalThis.gc?.());
    },
  });

  const records = createRecordStream({
    link,
    dataPlaneId,
    spoolDir: fileOf('spool'),
    maxMemoryBytes: config.MAX_RECORD_MEMORY_BYTES,
    maxSpoolBytes: config.MAX_RECORD_SPOOL_BYTES,
    random: Math.random,
    clock,
    log,
    registry,
  });
  const identity = identityOf(config);
  const telemetry = await openTelemetry({ settings: config, identity, clock, log, registry });
  runner.defer('records and OTLP', async () => {
    await Promise.all([records.close(RECORD_FLUSH_MS), telemetry.close(OTLP_FLUSH_MS)]);
  });

  const feed = startConfigurationFeed({
    link,
    keys,
    lastGood: openLastGood(fileOf('last-good'), keys, log),
    sink: local.sink,
    clock,
    random: Math.random,
    log,
    registry,
  });
  runner.defer('configuration', () => feed.stop());
  runner.defer('heartbeats', () => heartbeats.stop());

  const place = openSavedPlace(fileOf('quota-place'), log);
  const saved = place.load();
  const fleet = new FleetMembership({
    store: new KvFleetStore(link, clock),
    id: dataPlaneId,
    clock,
    log,
    serverMs: () => clock.nowMs() + (heartbeats.serverTimeOffsetMs() ?? 0),
    timeKnown: () => heartbeats.serverTimeOffsetMs() !== undefined,
    isLive: (id) => heartbeats.isLive(id),
    saved,
    save: (next) => place.save(next),
  });
  const ownSlot = () => fleet.view.own?.slot;
  const leaseWaits = createLeaseWaits(registry);
  const nodes = () => fleet.view.others.length + 1;
  const ledger = new KvQuotaLedger(link, clock, nodes);
  const idempotencyStore = new NatsIdempotencyStore(link, clock, nodes);
  const keyBucket = [NAMES.idempotencyBucket, idempotencyStore.bounds] as const;
  registerBucketMetrics(registry, new Map([...ledger.bounds, keyBucket]));
  const quotas = new LeasedQuotaStore({
    ledger,
    fleet,
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
  registerQuotaMetrics(registry, quotas);
  answerRecalls(link, { slot: ownSlot, release: (recalled) => quotas.release(recalled) });
  const certificate = await openCertificate(config, runner, { clock, log, registry });
  return {
    local,
    nats,
    link,
    signal,
    heartbeats,
    records,
    tracing: telemetry.tracing,
    feed,
    fleet,
    quotas,
    idempotencyStore,
    certificate,
  };
}
