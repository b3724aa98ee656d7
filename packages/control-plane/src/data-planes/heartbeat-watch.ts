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
/** The bucket is in memory, so a restart of NATS deletes it. It is checked this often, ms. */
const CHECK_MS = 2000;
const LOG_EVERY_FAILURES = 30;
/** Stored heartbeats are read in parallel: one after another took seconds in a large fleet. */
const PARALLEL_READS = 100;

/**
 * Follows the heartbeats of all data planes: first those that NATS stores, so that a restarted control
 * plane knows what the others know, then each one as it is published. Every control plane has its own
 * watch. It creates the bucket again if it is gone.
 */
export function watchHeartbeats(options: HeartbeatWatchOptions): HeartbeatWatch {
  const { connection, dataPlanes, clock, log, metrics } = options;
  const abort = new AbortController();
  const heardIds = new Set<string>();
  let restored = false;

  /** @param ageMs how long ago it was published, if NATS stored it */
  function take(id: string, data: Uint8Array, ageMs = 0): void {
    if (data.length === 0) {
      dataPlanes.remove(id);
      return;
    }
    try {
      if (data.length > MAX_HEARTBEAT_BYTES) throw new Error('the heartbeat is too large');
      const heartbeat = heartbeatSchema.parse(JSON.parse(Buffer.from(data).toString('utf8')));
      if (heartbeat.id !== id) throw new Error('the heartbeat names another data plane');
      const nowMs = clock.monotonicMs();
      if (!dataPlanes.take(heartbeat, nowMs, nowMs - ageMs)) metrics.refused.inc();
    } catch (error) {
      metrics.refused.inc();
      log.debug({ reason: String(error), data_plane: id }, 'malformed heartbeat skipped');
    }
  }

  const subscription = connection.subscribe(HEARTBEAT_SUBJECTS, {
    callback: (error, message) => {
      if (error !== null) return;
      const id = heartbeatId(message.subject);
      if (!restored) heardIds.add(id);
      take(id, message.data);
    },
  });

  /** Takes the stored heartbeats of data planes that have sent none since this process listens. */
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
      const ageMs = newestMs - time.getTime();
      if (!heardIds.has(id)) take(id, data, ageMs);
    }
    restored = true;
    dataPlanes.restored();
    heardIds.clear();
  }

  async function checkBucket(): Promise<void> {
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

  async function keepChecking(): Promise<void> {
    const isStopped = () => abort.signal.aborted;
    for (let failures = 0; !isStopped();) {
      try {
        await checkBucket();
        failures = 0;
      } catch (error) {
        if (isStopped()) return;
        if (failures % LOG_EVERY_FAILURES === 0) {
          log.warn({ reason: String(error) }, 'heartbeat read failed; retrying');
        }
        failures += 1;
      }
      await pause(clock, CHECK_MS, abort.signal);
    }
  }

  const checking = keepChecking();
  return {
    async stop() {
      abort.abort();
      subscription.unsubscribe();
      await checking;
    },
  };
}
