import type { Clock, Timer } from '@gateway/shared/clock';
import {
  encodeHeartbeat,
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
import { jetstream, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/nats-core';
import type { Registry } from 'prom-client';
import { SkewLog } from './clock-skew.ts';
import { createHeartbeatMetrics } from './heartbeat-metrics.ts';
import { LivePeers } from './live-peers.ts';
import { Namesakes } from './namesakes.ts';
import { linkNats } from '../nats/nats-link.ts';
import { ServerTime } from './server-time.ts';

/** What a data plane tells of itself beside who and where it is. */
export type HeartbeatReport = Pick<
  Heartbeat,
  | 'config_versions'
  | 'config_errors'
  | 'in_flight'
  | 'last_error'
  | 'services'
  | 'unusable_credentials'
>;

export interface HeartbeatOptions {
  /** As `connectNats` gives it: NATS may be away, and come up at any time. */
  readonly nats: Promise<NatsConnection>;
  readonly dataPlaneId: string;
  readonly region: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** What to tell now. */
  readonly report: () => HeartbeatReport;
}

export interface Heartbeats {
  /** Data planes that live, this one included: at least 1. While NATS is away the last known number. */
  liveDataPlanes(): number;
  /** Others that beat under this id, and what is to be done; undefined where there are none. */
  readonly problem: string | undefined;
  /**
   * Milliseconds that the NATS server's clock is ahead of the local wall clock now; undefined until it
   * was read once. It is kept while NATS is away, and follows at once when the wall clock is set.
   */
  serverTimeOffsetMs(): number | undefined;
  /** The bound of that offset's error, ms; undefined until it was read once. */
  serverTimeErrorMs(): number | undefined;
  /** Tells of a change soon, rather than at the next beat. */
  beatSoon(): void;
  /** Says that this data plane leaves, so that nobody waits for its beats. */
  stop(): Promise<void>;
}

const STREAM = `KV_${NAMES.dataPlaneBucket}`;
const CALL_TIMEOUT_MS = 1500;
/** Changes that come together are told together. */
const DEBOUNCE_MS = 100;
/** However many changes there are: a heartbeat may be large, and everybody hears it. */
const MIN_SPACING_MS = 300;
/** The server's clock is read at every beat at first, then at one of so many. */
const FIRST_READINGS = 5;
const BEATS_PER_READING = 5;
/** Local clocks that part by more were set, or one stood still while the machine slept. */
const MAX_PARTING_MS = 5;

interface Opened {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

/**
 * Tells NATS every two seconds that this data plane lives and what it sees, and hears the others do so.
 * The beats are heard as they are published, so the number of live data planes is known even where
 * the bucket is not there to keep them. Nothing is thrown out of it.
 */
export function startHeartbeats(options: HeartbeatOptions): Heartbeats {
  const { clock, log, dataPlaneId } = options;
  const link = linkNats(options.nats, log);
  const peers = new LivePeers(dataPlaneId);
  const startedAtMs = clock.nowMs();
  const namesakes = new Namesakes(dataPlaneId, startedAtMs, log);
  const liveDataPlanes = () => peers.count + namesakes.count;
  const serverTime = new ServerTime();
  const skewLog = new SkewLog(log);
  const subject = heartbeatSubject(dataPlaneId);
  let opened: Promise<Opened> | undefined;
  let timer: Timer | undefined;
  let nextBeatMs = Infinity;
  let lastBeatMs = -Infinity;
  let beating: Promise<void> | undefined;
  let again = false;
  let beats = 0;
  let wallAheadMs = 0;
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

  /** Once for the process: the client re-subscribes by itself after each interruption. */
  async function open(connection: NatsConnection): Promise<Opened> {
    connection.subscribe(HEARTBEAT_SUBJECTS, {
      callback: (error, message) => {
        if (error !== null) return;
        const id = heartbeatId(message.subject);
        const nowMs = clock.monotonicMs();
        if (message.data.length === 0) peers.left(id);
        else if (id !== dataPlaneId || namesakes.isOwn(message.data, nowMs)) peers.heard(id, nowMs);
      },
    });
    const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS, checkAPI: false });
    return { connection, client, manager: await client.jetstreamManager(false) };
  }

  async function beat(connection: NatsConnection): Promise<void> {
    opened ??= open(connection);
    const { client, manager } = await opened;
    const heartbeat: Heartbeat = {
      id: dataPlaneId,
      region: options.region,
      started_at_ms: startedAtMs,
      sent_at_ms: clock.nowMs(),
      interval_ms: HEARTBEAT_INTERVAL_MS,
      gateway_version: GATEWAY_VERSION,
      ...options.report(),
      server_ahead_ms: wholeOrNull(serverTimeOffsetMs()),
      unreported_services: 0,
    };
    const encoded = encodeHeartbeat(heartbeat);
    unreported = encoded.unreportedServices;
    const sentAtMs = clock.monotonicMs();
    const { seq } = await client.publish(subject, encoded.bytes, { timeout: CALL_TIMEOUT_MS });
    const receivedAtMs = clock.monotonicMs();
    beats += 1;
    const aheadMs = clock.nowMs() - clock.monotonicMs();
    const parted = Math.abs(aheadMs - wallAheadMs) > MAX_PARTING_MS;
    if (beats > FIRST_READINGS && beats % BEATS_PER_READING !== 0 && !parted) return;
    const stored = await manager.streams.getMessage(STREAM, { seq });
    if (stored === null) return;
    wallAheadMs = aheadMs;
    serverTime.add({ sentAtMs, receivedAtMs, serverMs: stored.time.getTime() });
    skewLog.read(serverTimeOffsetMs());
  }

  async function tryBeat(): Promise<void> {
    const { connection } = link;
    if (connection === undefined) return;
    try {
      await beat(connection);
      failing = false;
    } catch (error) {
      metrics.failures.inc();
      if (!failing && !stopped) log.warn({ reason: String(error) }, 'NATS takes no heartbeat');
      failing = true;
    }
  }

  function run(): void {
    lastBeatMs = clock.monotonicMs();
    nextBeatMs = Infinity;
    beatWithin(HEARTBEAT_INTERVAL_MS);
    if (beating !== undefined) {
      again = true;
      return;
    }
    beating = tryBeat().finally(() => {
      beating = undefined;
      if (!again) return;
      again = false;
      beatSoon();
    });
  }

  function beatWithin(delayMs: number): void {
    const dueMs = clock.monotonicMs() + delayMs;
    if (stopped || dueMs >= nextBeatMs) return;
    timer?.cancel();
    nextBeatMs = dueMs;
    timer = clock.setTimer(delayMs, run);
  }

  function beatSoon(): void {
    const earliestMs = lastBeatMs + MIN_SPACING_MS - clock.monotonicMs();
    beatWithin(Math.max(DEBOUNCE_MS, earliestMs));
  }

  // Back at once when NATS is.
  const stopListening = link.onChange(() => {
    if (link.connection !== undefined) run();
  });
  run();

  return {
    liveDataPlanes,
    get problem() {
      return namesakes.problem;
    },
    serverTimeOffsetMs,
    serverTimeErrorMs: () => serverTime.errorMs,
    beatSoon,
    async stop() {
      stopped = true;
      timer?.cancel();
      stopListening();
      await beating;
      const { connection } = link;
      if (connection === undefined || opened === undefined) return;
      const farewell = headers();
      farewell.set('KV-Operation', 'DEL');
      const { client } = await opened;
      await client
        .publish(subject, '', { headers: farewell, timeout: CALL_TIMEOUT_MS })
        .catch((error: unknown) => {
          log.info({ reason: String(error) }, 'NATS was not told that this data plane leaves');
        });
    },
  };
}

function wholeOrNull(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}
