import { isDeepStrictEqual } from 'node:util';
import {
  AckPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { nanos } from '@nats-io/nats-core';
import { Objm } from '@nats-io/obj';
import { CONFIG_LOG_SUBJECTS, NAMES, RECORD_SUBJECTS } from './names.ts';
import { RETENTION_MS } from './retention.ts';

export interface TopologyOptions {
  /** Copies of each stream in the cluster: 1 for a single server, 3 in production. */
  readonly replicas: number;
  /** The size at which the record stream refuses more records, bytes. */
  readonly maxRecordStreamBytes: number;
  /** The size at which the bucket of idempotency keys refuses more keys, bytes; default 4 GiB. */
  readonly maxIdempotencyBytes?: number;
  /** The size of each of the two buckets of quotas, bytes; default 256 MiB. */
  readonly maxQuotaBytes?: number;
  /** Records that a control plane does not acknowledge in this time are delivered again; default 3 s. */
  readonly recordAckWaitMs?: number;
}

const ACK_WAIT_MS = 3000;
/** Far more than publishers keep there. A data plane that misses an entry loads the snapshot. */
const MAX_LOG_ENTRIES = 4096;
const MAX_LOG_BYTES = 512 * 1024 * 1024;
/** The heartbeat of a stopped data plane is removed after this time. */
const DATA_PLANE_TTL_MS = 60_000;
/** In memory: a hundred heartbeats of the maximum size, or many thousands of the usual size. */
const MAX_DATA_PLANE_BYTES = 32 * 1024 * 1024;
const MAX_IDEMPOTENCY_BYTES = 4 * 1024 ** 3;
/** Some 500 000 to a million policies and subjects in each bucket. */
const MAX_QUOTA_BYTES = 256 * 1024 * 1024;
/** Many times the size of an entry with ten thousand data planes. */
const MAX_FLEET_BYTES = 16 * 1024 * 1024;

/**
 * Creates every missing stream, bucket and consumer. Several callers may run it at the same time, and it can be repeated
 * after a NATS server lost its data. Uses nothing newer than the oldest supported nats-server.
 */
export async function ensureTopology(
  connection: NatsConnection,
  options: TopologyOptions,
): Promise<void> {
  const manager = await jetstreamManager(connection);
  await new Kvm(connection).create(NAMES.configBucket, {
    history: 1,
    replicas: options.replicas,
  });
  await new Kvm(connection).create(NAMES.dataPlaneBucket, {
    history: 1,
    replicas: options.replicas,
    storage: StorageType.Memory,
    ttl: DATA_PLANE_TTL_MS,
    max_bytes: MAX_DATA_PLANE_BYTES,
  });
  await ensureIdempotencyBucket(connection, manager, options);
  await ensureQuotaBuckets(connection, manager, options);
  await new Objm(connection).create(NAMES.snapshotBucket, { replicas: options.replicas });
  await ensureConfigLog(manager, options.replicas);
  await ensureRecordStream(manager, options);
}

/**
 * The log has no maximum age, because an environment that does not change must keep its last entries. A full log drops
 * the oldest entries, because a new one must reach the data planes.
 */
async function ensureConfigLog(manager: JetStreamManager, replicas: number): Promise<void> {
  const limits = {
    subjects: [CONFIG_LOG_SUBJECTS],
    num_replicas: replicas,
    max_bytes: MAX_LOG_BYTES,
    max_msgs_per_subject: MAX_LOG_ENTRIES,
    discard: DiscardPolicy.Old,
  };
  await ensureStream(manager, NAMES.configLog, RetentionPolicy.Limits, limits);
}

/** nats-server changes the time of creation of a stream when it is updated, so an unchanged one is not. */
async function ensureStream(
  manager: JetStreamManager,
  name: string,
  retention: RetentionPolicy,
  limits: Partial<StreamConfig>,
): Promise<void> {
  if (await exists(() => manager.streams.info(name))) {
    const { config } = await manager.streams.info(name);
    if (!matches(config, limits)) await manager.streams.update(name, limits);
  } else {
    await manager.streams.add({ name, storage: StorageType.File, retention, ...limits });
  }
}

function matches(config: StreamConfig, limits: Partial<StreamConfig>): boolean {
  const names = Object.keys(limits) as (keyof StreamConfig)[];
  return names.every((name) => isDeepStrictEqual(config[name], limits[name]));
}

/** A full bucket refuses new keys. If it dropped old ones, their requests could run again. */
async function ensureIdempotencyBucket(
  connection: NatsConnection,
  manager: JetStreamManager,
  options: TopologyOptions,
): Promise<void> {
  await ensureBucket(connection, manager, NAMES.idempotencyBucket, {
    replicas: options.replicas,
    ttl: RETENTION_MS.idempotency,
    max_bytes: options.maxIdempotencyBytes ?? MAX_IDEMPOTENCY_BYTES,
  });
}

interface BucketLimits {
  readonly replicas: number;
  readonly ttl: number;
  readonly max_bytes: number;
}

/** Creates a bucket, or gives the one of a former release or of other settings these limits. */
async function ensureBucket(
  connection: NatsConnection,
  manager: JetStreamManager,
  name: string,
  { replicas, ttl, max_bytes }: BucketLimits,
): Promise<void> {
  const limits = { replicas, ttl, max_bytes };
  await new Kvm(connection).create(name, { history: 1, storage: StorageType.File, ...limits });
  const stream = `KV_${name}`;
  const { config } = await manager.streams.info(stream);
  const changed = { max_bytes, num_replicas: replicas, max_age: nanos(ttl) };
  if (matches(config, changed)) return;
  await manager.streams.update(stream, { ...config, ...changed });
}

/** An entry is needed until its window ends. */
async function ensureQuotaBuckets(
  connection: NatsConnection,
  manager: JetStreamManager,
  { replicas, maxQuotaBytes = MAX_QUOTA_BYTES }: TopologyOptions,
): Promise<void> {
  const ensure = (name: string, ttl: number) =>
    ensureBucket(connection, manager, name, { replicas, ttl, max_bytes: maxQuotaBytes });
  await ensure(NAMES.quotaBucket, RETENTION_MS.quotas);
  await ensure(NAMES.shortQuotaBucket, RETENTION_MS.shortQuotas);
  const fleet = { history: 1, replicas, storage: StorageType.File, max_bytes: MAX_FLEET_BYTES };
  await new Kvm(connection).create(NAMES.quotaFleetBucket, fleet);
}

async function ensureRecordStream(
  manager: JetStreamManager,
  options: TopologyOptions,
): Promise<void> {
  // A record is removed when it is in Postgres. A full stream refuses records, so that data planes keep and count
  // them. Dropping old records would lose them silently.
  const limits = {
    subjects: [RECORD_SUBJECTS],
    num_replicas: options.replicas,
    max_bytes: options.maxRecordStreamBytes,
    discard: DiscardPolicy.New,
  };
  await ensureStream(manager, NAMES.recordStream, RetentionPolicy.Workqueue, limits);
  const consumer = {
    durable_name: NAMES.recordConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(options.recordAckWaitMs ?? ACK_WAIT_MS),
    max_ack_pending: 1000,
  };
  const readInfo = () => manager.consumers.info(NAMES.recordStream, NAMES.recordConsumer);
  if (!(await exists(readInfo))) await manager.consumers.add(NAMES.recordStream, consumer);
  else if ((await readInfo()).config.ack_wait !== consumer.ack_wait) {
    const { ack_wait } = consumer;
    await manager.consumers.update(NAMES.recordStream, NAMES.recordConsumer, { ack_wait });
  }
}

const NOT_FOUND = new Set(['StreamNotFoundError', 'ConsumerNotFoundError']);

async function exists(readInfo: () => Promise<unknown>): Promise<boolean> {
  try {
    await readInfo();
    return true;
  } catch (error) {
    if (error instanceof Error && NOT_FOUND.has(error.name)) return false;
    throw error;
  }
}
