import { pause, type Clock } from '@gateway/shared/clock';
import { heartbeatSchema, MAX_HEARTBEAT_BYTES } from '@gateway/shared/heartbeats/heartbeat';
import { HEARTBEAT_SUBJECTS, heartbeatId, NAMES } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { jetstreamManager, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { DataPlanes } from './data-planes.ts';
import type { FleetMetrics } from './fleet-metrics.ts';

export interface HeartbeatWatchOptions {
  readonly connection: NatsConnection;
  /** Creates the streams and buckets that are missing. */
  readonly prepare: () => Promise<void>;
  readonly dataPlanes: DataPlanes;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FleetMetrics;
}

export interface HeartbeatWatch {
  stop(): Promise<void>;
}

const STREAM = `KV_${NAMES.dataPlaneBucket}`;
const CALL_TIMEOUT_MS = 2000;
/** The bucket is in memory, so it is gone after a restart of the server, and is looked for this often. */
const LOOK_MS = 2000;
const LOG_EVERY_FAILURES = 30;
/** Stored heartbeats are read so many at a time: one after the other, a large fleet took seconds. */
const PARALLEL_READS = 100;

/**
 * Follows the heartbeats of all data planes: first those that the bucket keeps, so that a restarted
 * control plane knows what the others know, then each one as it is published. Every control plane does
 * so for itself. It creates the bucket again if it is gone.
 */
export function watchHeartbeats(options: HeartbeatWatchOptions): HeartbeatWatch {
  const { connection, dataPlanes, clock, log, metrics } = options;
  const abort = new AbortController();
  const heardLive = new Set<string>();
  let restored = false;

  /** @param silentMs how long ago it was published, where it was kept */
  function take(id: string, data: Uint8Array, silentMs = 0): void {
    if (data.length === 0) {
      dataPlanes.left(id);
      return;
    }
    try {
      if (data.length > MAX_HEARTBEAT_BYTES) throw new Error('too large');
      const heartbeat = heartbeatSchema.parse(JSON.parse(Buffer.from(data).toString('utf8')));
      if (heartbeat.id !== id) throw new Error('of another data plane');
      const nowMs = clock.monotonicMs();
      if (!dataPlanes.take(heartbeat, nowMs, nowMs - silentMs)) metrics.refused.inc();
    } catch (error) {
      metrics.refused.inc();
      log.debug({ reason: String(error), data_plane: id }, 'malformed heartbeat skipped');
    }
  }

  const subscription = connection.subscribe(HEARTBEAT_SUBJECTS, {
    callback: (error, message) => {
      if (error !== null) return;
      const id = heartbeatId(message.subject);
      if (!restored) heardLive.add(id);
      take(id, message.data);
    },
  });

  /** What was kept before this process listened; what it has heard since is newer. */
  async function restore(manager: JetStreamManager, subjects: readonly string[]): Promise<void> {
    const stored: StoredMsg[] = [];
    for (let from = 0; from < subjects.length; from += PARALLEL_READS) {
      abort.signal.throwIfAborted();
      const reads = subjects.slice(from, from + PARALLEL_READS).map((subject) => {
        return manager.streams.getMessage(STREAM, { last_by_subj: subject });
      });
      stored.push(...(await Promise.all(reads)).filter((message) => message !== null));
    }
    const newestMs = Math.max(...stored.map(({ time }) => time.getTime()));
    for (const { subject, data, time } of stored) {
      const id = heartbeatId(subject);
      const silentMs = newestMs - time.getTime();
      if (!heardLive.has(id)) take(id, data, silentMs);
    }
    restored = true;
    dataPlanes.complete();
    heardLive.clear();
  }

  async function look(): Promise<void> {
    const manager = await jetstreamManager(connection, {
      timeout: CALL_TIMEOUT_MS,
      checkAPI: false,
    });
    try {
      const info = await manager.streams.info(STREAM, { subjects_filter: HEARTBEAT_SUBJECTS });
      if (!restored) await restore(manager, Object.keys(info.state.subjects ?? {}));
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'StreamNotFoundError') throw error;
      await options.prepare();
    }
  }

  async function keepLooking(): Promise<void> {
    const isStopped = () => abort.signal.aborted;
    for (let failures = 0; !isStopped();) {
      try {
        await look();
        failures = 0;
      } catch (error) {
        if (isStopped()) return;
        if (failures % LOG_EVERY_FAILURES === 0) {
          log.warn({ reason: String(error) }, 'heartbeat read failed; retrying');
        }
        failures += 1;
      }
      await pause(clock, LOOK_MS, abort.signal);
    }
  }

  const looking = keepLooking();
  return {
    async stop() {
      abort.abort();
      subscription.unsubscribe();
      await looking;
    },
  };
}
