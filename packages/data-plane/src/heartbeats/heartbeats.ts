import type { Clock, Timer } from '@gateway/shared/clock';
import {
  encodeHeartbeat,
  HEARTBEAT_FORMAT,
  HEARTBEAT_INTERVAL_MS,
  type Heartbeat,
} from '@gateway/shared/heartbeats/heartbeat';
import {
  HEARTBEAT_SUBJECTS,
  heartbeatId,
  heartbeatSubject,
  NAMES,
} from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { GATEWAY_VERSION } from '@gateway/shared/version';
import { headers, type NatsConnection } from '@nats-io/nats-core';
import type { Registry } from 'prom-client';
import type { JetStream, NatsLink } from '../nats/nats-link.ts';
import { SkewLog } from './clock-skew.ts';
import { DuplicateIds } from './duplicate-ids.ts';
import { createHeartbeatMetrics } from './heartbeat-metrics.ts';
import { LivePeers } from './live-peers.ts';
import { ServerTime } from './server-time.ts';

/** The part of a heartbeat that the rest of the data plane reports. */
export type HeartbeatReport = Omit<
  Heartbeat,
  | 'format'
  | 'id'
  | 'region'
  | 'started_at_ms'
  | 'sent_at_ms'
  | 'interval_ms'
  | 'gateway_version'
  | 'server_ahead_ms'
  | 'unreported_services'
>;

export interface HeartbeatOptions {
  readonly link: NatsLink;
  readonly dataPlaneId: string;
  readonly region: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface Heartbeats {
  /** Live data planes, this one included: at least 1. While NATS is away the last known number. */
  liveDataPlanes(): number;
  /** Whether another data plane with this id is live. */
  isLive(id: string): boolean;
  /** Other data planes with the same id, and what the operator should do; undefined if there are none. */
  readonly problem: string | undefined;
  /**
   * How far the NATS server's clock is ahead of the local wall clock, ms; undefined before the first reading.
   * It is kept while NATS is away, and follows a change of the wall clock at once.
   */
  serverTimeOffsetMs(): number | undefined;
  /** Bound of that offset's error, ms; undefined before the first reading. */
  serverTimeErrorMs(): number | undefined;
  /**
   * Begins to publish heartbeats.
   *
   * @param report called for each of them
   */
  start(report: () => HeartbeatReport): void;
  /** Publishes a heartbeat soon, instead of at the next interval. Before `start` it does nothing. */
  beatSoon(): void;
  /** Announces that this data plane stops, so that no other waits for its beats. */
  stop(): Promise<void>;
}

const STREAM = `KV_${NAMES.dataPlaneBucket}`;
const CALL_TIMEOUT_MS = 1500;
/** Changes within this time share one heartbeat. */
const DEBOUNCE_MS = 100;
/** However many changes there are: a heartbeat may be large, and every process receives it. */
const MIN_SPACING_MS = 300;
/** The server's clock is read at each of the first beats, then at one in `BEATS_PER_READING`. */
const FIRST_READINGS = 5;
const BEATS_PER_READING = 5;
/** A larger change between wall clock and monotonic clock means that one was set, or that the machine slept. */
const MAX_CLOCK_DRIFT_MS = 5;

/**
 * Creates the heartbeats of this process.
 *
 * Publishes the state of this data plane every two seconds and receives the heartbeats of the others. They
 * are received as plain messages, so the number of live data planes is known even while the bucket that
 * stores them is missing. No method throws.
 */
export function createHeartbeats(options: HeartbeatOptions): Heartbeats {
  const { link, clock, log, dataPlaneId } = options;
  const peers = new LivePeers(dataPlaneId);
  const startedAtMs = clock.nowMs();
  const duplicates = new DuplicateIds(dataPlaneId, startedAtMs, log);
  const liveDataPlanes = () => peers.count + duplicates.count;
  const serverTime = new ServerTime();
  const skewLog = new SkewLog(log);
  const subject = heartbeatSubject(dataPlaneId);
  let report: (() => HeartbeatReport) | undefined;
  let stopListening: (() => void) | undefined;
  let subscribed = false;
  let timer: Timer | undefined;
  let nextBeatMs = Infinity;
  let lastBeatMs = -Infinity;
  let beating: Promise<void> | undefined;
  let beatAgain = false;
  let beats = 0;
  /** Wall clock minus monotonic clock at the last reading. */
  let clockGapMs = 0;
  let unreported = 0;
  let failing = false;
  let stopped = false;

  const metrics = createHeartbeatMetrics(options.registry, {
    liveDataPlanes,
    serverTimeOffsetSeconds: () => {
      const offsetMs = serverTimeOffsetMs();
      return offsetMs === undefined ? undefined : offsetMs / 1000;
    },
    unreportedServices: () => unreported,
  });

  function serverTimeOffsetMs(): number | undefined {
    const { offsetMs } = serverTime;
    return offsetMs === undefined ? undefined : offsetMs + clock.monotonicMs() - clock.nowMs();
  }

  /** Called once: the client subscribes again by itself after each interruption. */
  function subscribe(connection: NatsConnection): void {
    subscribed = true;
    connection.subscribe(HEARTBEAT_SUBJECTS, {
      callback: (error, message) => {
        if (error !== null) return;
        const id = heartbeatId(message.subject);
        const nowMs = clock.monotonicMs();
        if (message.data.length === 0) peers.left(id);
        else if (id !== dataPlaneId || duplicates.isOwn(message.data, nowMs))
          peers.heard(id, nowMs);
      },
    });
  }

  async function beat(
    current: HeartbeatReport,
    connection: NatsConnection,
    { client, manager }: JetStream,
  ): Promise<void> {
    if (!subscribed) subscribe(connection);
    const heartbeat: Heartbeat = {
      format: HEARTBEAT_FORMAT,
      id: dataPlaneId,
      region: options.region,
      started_at_ms: startedAtMs,
      sent_at_ms: clock.nowMs(),
      interval_ms: HEARTBEAT_INTERVAL_MS,
      gateway_version: GATEWAY_VERSION,
      ...current,
      server_ahead_ms: wholeOrNull(serverTimeOffsetMs()),
      unreported_services: 0,
    };
    const encoded = encodeHeartbeat(heartbeat);
    unreported = encoded.unreportedServices;
    const sentAtMs = clock.monotonicMs();
    const { seq } = await client.publish(subject, encoded.bytes, { timeout: CALL_TIMEOUT_MS });
    const receivedAtMs = clock.monotonicMs();
    beats += 1;
    const gapMs = clock.nowMs() - clock.monotonicMs();
    const wasSet = Math.abs(gapMs - clockGapMs) > MAX_CLOCK_DRIFT_MS;
    if (beats > FIRST_READINGS && beats % BEATS_PER_READING !== 0 && !wasSet) return;
    const { streams } = await manager;
    const stored = await streams.getMessage(STREAM, { seq });
    if (stored === null) return;
    clockGapMs = gapMs;
    serverTime.add({ sentAtMs, receivedAtMs, serverMs: stored.time.getTime() });
    skewLog.read(serverTimeOffsetMs());
  }

  async function tryBeat(): Promise<void> {
    const { connection, jetstream } = link;
    if (report === undefined || connection === undefined || jetstream === undefined) {
      // Before the first connection nobody waits for them.
      if (link.losses > 0 && !stopped) metrics.failures.inc();
      return;
    }
    try {
      await beat(report(), connection, jetstream);
      failing = false;
    } catch (error) {
      metrics.failures.inc();
      if (!failing && !stopped) log.warn({ reason: String(error) }, 'heartbeat publish failed');
      failing = true;
    }
  }

  function run(): void {
    lastBeatMs = clock.monotonicMs();
    nextBeatMs = Infinity;
    beatWithin(HEARTBEAT_INTERVAL_MS);
    if (beating !== undefined) {
      beatAgain = true;
      return;
    }
    beating = tryBeat().finally(() => {
      beating = undefined;
      if (!beatAgain) return;
      beatAgain = false;
      beatSoon();
    });
  }

  function beatWithin(delayMs: number): void {
    const dueMs = clock.monotonicMs() + delayMs;
    if (stopped || report === undefined || dueMs >= nextBeatMs) return;
    timer?.cancel();
    nextBeatMs = dueMs;
    timer = clock.setTimer(delayMs, run);
  }

  function beatSoon(): void {
    const earliestMs = lastBeatMs + MIN_SPACING_MS - clock.monotonicMs();
    beatWithin(Math.max(DEBOUNCE_MS, earliestMs));
  }

  return {
    liveDataPlanes,
    isLive: (id) => peers.has(id),
    get problem() {
      return duplicates.problem;
    },
    serverTimeOffsetMs,
    serverTimeErrorMs: () => serverTime.errorMs,
    start(makeReport) {
      report = makeReport;
      // After an outage the others must hear of this data plane at once.
      stopListening = link.onChange(() => {
        if (link.connection !== undefined) run();
      });
      run();
    },
    beatSoon,
    async stop() {
      stopped = true;
      timer?.cancel();
      stopListening?.();
      await beating;
      const { jetstream } = link;
      if (jetstream === undefined || !subscribed) return;
      const deletion = headers();
      deletion.set('KV-Operation', 'DEL');
      await jetstream.client
        .publish(subject, '', { headers: deletion, timeout: CALL_TIMEOUT_MS })
        .catch((error: unknown) => {
          log.info({ reason: String(error) }, 'heartbeat could not be deleted at the stop');
        });
    },
  };
}

function wholeOrNull(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}
