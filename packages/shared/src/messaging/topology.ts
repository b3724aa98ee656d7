import {
  AckPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  jetstreamManager,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { nanos } from '@nats-io/nats-core';
import { Objm } from '@nats-io/obj';
import { NAMES, RECORD_SUBJECTS } from './names.ts';

export interface TopologyOptions {
  /** Copies of each stream in the cluster: 1 for a single server, 3 in production. */
  readonly replicas: number;
  /** The most that the stream of records holds before it refuses more, bytes. */
  readonly maxRecordStreamBytes: number;
}

const ACK_WAIT_MS = 30_000;
/** A data plane that is gone is forgotten after this long. */
const DATA_PLANE_TTL_MS = 60_000;
/** In memory: some hundred heartbeats of the largest size, many thousands of a usual one. */
const MAX_DATA_PLANE_BYTES = 32 * 1024 * 1024;

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
  await new Objm(connection).create(NAMES.snapshotBucket, { replicas: options.replicas });
  await ensureRecordStream(manager, options);
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
  if (await exists(() => manager.streams.info(NAMES.recordStream))) {
    await manager.streams.update(NAMES.recordStream, limits);
  } else {
    await manager.streams.add({
      name: NAMES.recordStream,
      storage: StorageType.File,
      retention: RetentionPolicy.Workqueue,
      ...limits,
    });
  }
  await manager.consumers.add(NAMES.recordStream, {
    durable_name: NAMES.recordConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: 1000,
  });
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
