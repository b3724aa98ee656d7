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
import { CONFIG_LOG_SUBJECTS, NAMES, RECORD_SUBJECTS, SHORT_QUOTA_WINDOW_MS } from './names.ts';

export interface TopologyOptions {
  /** Copies of each stream in the cluster: 1 for a single server, 3 in production. */
  readonly replicas: number;
  /** The size at which the record stream refuses more records, bytes. */
  readonly maxRecordStreamBytes: number;
  /** The size at which the bucket of idempotency keys refuses more keys, bytes; default 4 GiB. */
  readonly maxIdempotencyBytes?: number;
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
/** One hour longer than the expiry in the value. */
const IDEMPOTENCY_TTL_MS = 25 * 3_600_000;
const MAX_IDEMPOTENCY_BYTES = 4 * 1024 ** 3;
/** The longest window is a day. */
const QUOTA_TTL_MS = 25 * 3_600_000;
const SHORT_QUOTA_TTL_MS = 2 * SHORT_QUOTA_WINDOW_MS;
/** About a million policies and subjects in each bucket. */
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
  await ensureQuotaBuckets(connection, options.replicas);
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
  const maxBytes = options.maxIdempotencyBytes ?? MAX_IDEMPOTENCY_BYTES;
  await new Kvm(connection).create(NAMES.idempotencyBucket, {
    history: 1,
    replicas: options.replicas,
    storage: StorageType.File,
    ttl: IDEMPOTENCY_TTL_MS,
    max_bytes: maxBytes,
  });
  const stream = `KV_${NAMES.idempotencyBucket}`;
  const { config } = await manager.streams.info(stream);
  if (config.max_bytes !== maxBytes || config.num_replicas !== options.replicas) {
    const limits = { max_bytes: maxBytes, num_replicas: options.replicas };
    await manager.streams.update(stream, { ...config, ...limits });
  }
}

/** An entry is needed until its window ends. */
async function ensureQuotaBuckets(connection: NatsConnection, replicas: number): Promise<void> {
  const bucket = { history: 1, replicas, storage: StorageType.File, max_bytes: MAX_QUOTA_BYTES };
  const manager = new Kvm(connection);
  await manager.create(NAMES.quotaBucket, { ...bucket, ttl: QUOTA_TTL_MS });
  await manager.create(NAMES.shortQuotaBucket, { ...bucket, ttl: SHORT_QUOTA_TTL_MS });
  await manager.create(NAMES.quotaFleetBucket, { ...bucket, max_bytes: MAX_FLEET_BYTES });
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
