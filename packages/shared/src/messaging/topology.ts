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
  /** The most that the stream of records holds before it refuses more, bytes. */
  readonly maxRecordStreamBytes: number;
  /** The most that the bucket of idempotency keys holds before it refuses more, bytes; 4 GiB unless given. */
  readonly maxIdempotencyBytes?: number;
  /** Records that a control plane has not acknowledged for so long go to another; 30 s unless given. */
  readonly recordAckWaitMs?: number;
}

const ACK_WAIT_MS = 30_000;
/** Far above what publishers leave there; a data plane that misses an entry takes the snapshot. */
const MAX_LOG_ENTRIES = 4096;
const MAX_LOG_BYTES = 512 * 1024 * 1024;
/** A data plane that is gone is forgotten after this long. */
const DATA_PLANE_TTL_MS = 60_000;
/** In memory: some hundred heartbeats of the largest size, many thousands of a usual one. */
const MAX_DATA_PLANE_BYTES = 32 * 1024 * 1024;
/** An hour more than a key is kept for, which its value says. */
const IDEMPOTENCY_TTL_MS = 25 * 3_600_000;
const MAX_IDEMPOTENCY_BYTES = 4 * 1024 ** 3;
/** The longest window is a day. */
const QUOTA_TTL_MS = 25 * 3_600_000;
const SHORT_QUOTA_TTL_MS = 2 * SHORT_QUOTA_WINDOW_MS;
/** About a million policies and subjects in each bucket. */
const MAX_QUOTA_BYTES = 256 * 1024 * 1024;

/**
 * Creates every stream, bucket and consumer that is missing. Safe with several callers at once, and
 * again after a NATS server came back with its data gone. Uses nothing newer than nats-server 2.9.
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
 * Without an age: an environment that is never changed again must keep its last entries. It never
 * refuses an entry, as a change must reach the data planes; the oldest ones go instead.
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

async function ensureStream(
  manager: JetStreamManager,
  name: string,
  retention: RetentionPolicy,
  limits: Partial<StreamConfig>,
): Promise<void> {
  if (await exists(() => manager.streams.info(name))) {
    await manager.streams.update(name, limits);
  } else {
    await manager.streams.add({ name, storage: StorageType.File, retention, ...limits });
  }
}

/** A full bucket refuses new keys: to drop old ones would let their requests run again. */
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

/** An entry is of use until its window is over, and counts as never made afterwards. */
async function ensureQuotaBuckets(connection: NatsConnection, replicas: number): Promise<void> {
  const bucket = { history: 1, replicas, storage: StorageType.File, max_bytes: MAX_QUOTA_BYTES };
  const manager = new Kvm(connection);
  await manager.create(NAMES.quotaBucket, { ...bucket, ttl: QUOTA_TTL_MS });
  await manager.create(NAMES.shortQuotaBucket, { ...bucket, ttl: SHORT_QUOTA_TTL_MS });
}

async function ensureRecordStream(
  manager: JetStreamManager,
  options: TopologyOptions,
): Promise<void> {
  // A record leaves the stream when it is in Postgres. A full stream refuses, so that the data planes
  // keep and count what they hold, where dropping old records would lose them in silence.
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
  const look = () => manager.consumers.info(NAMES.recordStream, NAMES.recordConsumer);
  if (!(await exists(look))) await manager.consumers.add(NAMES.recordStream, consumer);
  else if ((await look()).config.ack_wait !== consumer.ack_wait) {
    const { ack_wait } = consumer;
    await manager.consumers.update(NAMES.recordStream, NAMES.recordConsumer, { ack_wait });
  }
}

const NOT_FOUND = new Set(['StreamNotFoundError', 'ConsumerNotFoundError']);

async function exists(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (error) {
    if (error instanceof Error && NOT_FOUND.has(error.name)) return false;
    throw error;
  }
}
