import type { Timer } from '@gateway/shared/clock';
import type { PublisherSession, SessionEvents } from './store/publisher-session.ts';
import { listPublicationStates, type EnvironmentState } from './store/publications.ts';
import {
  publishEnvironment,
  type PublicationDeps,
  type PublicationResult,
} from './publish-environment.ts';
import type { PublishMetrics } from './publish-metrics.ts';
import { storeSnapshot, type SnapshotJob } from './snapshot-job.ts';
import { SnapshotSchedule } from './snapshot-schedule.ts';
import { isDamaged } from './store-check.ts';
import { StorePruning } from './store-pruning.ts';
import { createWorkQueue } from './work-queue.ts';

/** How many environments are published at once, so that a token of all of them is out soon. */
const CONCURRENCY = 4;
/** Finds changes whose notification was lost, and checks that the session is alive. */
const TICK_MS = 1000;
/** The store is checked once in this number of ticks, because its data may be lost without an event. */
const TICKS_PER_CHECK = 30;
/** How soon an environment is checked after another control plane published it first. */
const LOST_RACE_RETRY_MS = 100;
/** How soon an environment is checked after another control plane held its lock. */
const BUSY_RETRY_MS = 1000;
/** A data plane that requests a snapshot gets one that was begun no sooner after the last, ms. */
const REQUESTED_MIN_AGE_MS = 1000;
/** The same for a snapshot that is due because too many deltas follow the last one, ms. */
const DUE_MIN_AGE_MS = 5000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;
const LOG_EVERY_FAILURES = 20;

export interface PublisherOptions extends Omit<PublicationDeps, 'session'> {
  /** Opens the Postgres session that listens for changes and holds the publication locks. */
  readonly openSession: (news: SessionEvents) => PublisherSession;
  readonly metrics: PublishMetrics;
  /** The newest version of the environment that a live data plane reports; 0 if none does. */
  readonly servedVersion: (environment: string) => number;
  /** Called after each publication that Postgres knows, by whichever control plane. */
  readonly onPublished?: (environment: string) => void;
}

export interface Publisher {
  /** Lets running publications end, then closes the session. */
  stop(): Promise<void>;
}

/**
 * Publishes each environment whose configuration changed: at once after the notification of the change,
 * else within a tick. Any number of control planes may run it side by side.
 *
 * While NATS or Postgres is away the changes stay in the outbox, and each environment is retried with
 * back-off. An environment is published again if its pointer or object is missing or does not verify,
 * if a data plane serves a newer version than is stored, because Postgres and NATS lost theirs, or if
 * another version of the control plane compiled it, so that an upgrade reaches the data planes.
 *
 * A change is published as a delta; snapshots that repeat the deltas follow (`SnapshotSchedule`).
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const { db, store, clock, log, metrics } = options;
  const session = options.openSession({
    changed: (name) => queue.add(name),
    published: (name) => options.onPublished?.(name),
  });
  const deps: PublicationDeps = { ...options, session };
  const queue = createWorkQueue(CONCURRENCY, publish);
  const failures = new Map<string, number>();
  const retries = new Map<string, Timer>();
  /**
   * Environments that this process has published, or found signed with the newest key and compiled as it
   * would. Checked only once: while keys or versions change, two control planes would otherwise
   * republish in turns for ever.
   */
  const checked = new Set<string>();
  const schedule = new SnapshotSchedule(clock);
  /** Snapshots that repeat deltas, stored one at a time. */
  const snapshotJobs = new Map<string, SnapshotJob>();
  const snapshotQueue = createWorkQueue(1, runSnapshotJob);
  let stopping = false;
  /** The number of lost connections after which the store was checked; undefined before the first check. */
  let lossesChecked: number | undefined;
  const pruning = new StorePruning(deps);
  let tickTimer: Timer | undefined;
  let ticking: Promise<void> = Promise.resolve();
  let ticks = 0;
  let tickFailed = false;

  function publishLater(environment: string, delayMs: number): void {
    if (stopping || retries.has(environment)) return;
    const retry = () => {
      retries.delete(environment);
      queue.add(environment);
    };
    retries.set(environment, clock.setTimer(delayMs, retry));
  }

  /** Ends the back-off of all environments, because NATS is back. */
  function retryNow(): void {
    for (const environment of failures.keys()) {
      retries.get(environment)?.cancel();
      retries.delete(environment);
      queue.add(environment);
    }
  }

  async function publish(environment: string): Promise<void> {
    const startedMs = clock.monotonicMs();
    try {
      if (!store.isConnected()) throw new Error('NATS is not connected');
      if (failures.has(environment)) await store.prepare();
      const result = await publishEnvironment(deps, environment, {
        isFirst: !checked.has(environment),
        servedVersion: options.servedVersion(environment),
        snapshotMinAgeMs: schedule.take(environment),
      });
      // The holder of the lock knows of the same changes, but it may die, or be an old connection of this
      // process that Postgres has not closed yet.
      if (result.kind === 'busy') publishLater(environment, BUSY_RETRY_MS);
      else if (result.kind === 'lost_race') publishLater(environment, LOST_RACE_RETRY_MS);
      else succeeded(environment, result, clock.monotonicMs() - startedMs);
    } catch (error) {
      failed(environment, error);
    }
  }

  function succeeded(
    environment: string,
    result: Extract<PublicationResult, { kind: 'unchanged' | 'published' }>,
    tookMs: number,
  ): void {
    checked.add(environment);
    if (failures.delete(environment)) log.info({ environment }, 'publish succeeded again');
    if (result.snapshotJob !== undefined) {
      snapshotJobs.set(environment, result.snapshotJob);
      snapshotQueue.add(environment);
    }
    if (result.kind === 'unchanged') return;
    const { form, version, why, lagMs } = result;
    if (form === 'snapshot') pruning.request();
    metrics.duration.observe({ form }, tookMs / 1000);
    metrics.lastVersion.set({ environment }, version);
    if (lagMs !== undefined) metrics.lag.observe(lagMs / 1000);
    const fields = { environment, form, version, why, took_ms: Math.round(tookMs) };
    log.info(fields, 'configuration published');
    if (!result.snapshotIsDue) return;
    schedule.request(environment, DUE_MIN_AGE_MS);
    queue.add(environment);
  }

  function failed(environment: string, error: unknown): void {
    const count = failures.get(environment) ?? 0;
    failures.set(environment, count + 1);
    metrics.failures.inc();
    if (count % LOG_EVERY_FAILURES === 0) {
      log.warn({ environment, err: error }, 'publish failed; changes stay in the outbox; retrying');
    }
    publishLater(environment, Math.min(FIRST_BACKOFF_MS * 2 ** count, MAX_BACKOFF_MS));
  }

  /** Runs without the lock, so that changes are published meanwhile. The schedule repeats a failed one. */
  async function runSnapshotJob(environment: string): Promise<void> {
    const job = snapshotJobs.get(environment);
    if (job === undefined) return;
    snapshotJobs.delete(environment);
    const startedMs = clock.monotonicMs();
    try {
      await storeSnapshot(deps, job);
      pruning.request();
      const tookMs = clock.monotonicMs() - startedMs;
      metrics.duration.observe({ form: 'repeated' }, tookMs / 1000);
      const { version } = job;
      log.info({ environment, version, took_ms: Math.round(tookMs) }, 'snapshot stored');
    } catch (error) {
      metrics.failures.inc();
      log.warn({ environment, err: error }, 'snapshot not stored; retrying');
    }
  }

  /** A data plane cannot continue from its version with the deltas in the log. */
  function snapshotRequested(environment: string): void {
    if (!checked.has(environment)) return;
    schedule.request(environment, REQUESTED_MIN_AGE_MS);
    queue.add(environment);
  }

  async function tick(): Promise<void> {
    const isConnected = store.isConnected();
    const losses = store.losses();
    const isNewSession = await session.ensureConnected();
    const states = await listPublicationStates(db);
    metrics.pending.set(states.reduce((sum, state) => sum + state.pendingChanges, 0));
    for (const state of states) {
      // A failed one is retried by its own back-off.
      const isAhead = options.servedVersion(state.environment) > state.configVersion;
      const isDue = schedule.check(state) || state.pendingChanges > 0 || isAhead;
      if (isDue && !failures.has(state.environment)) queue.add(state.environment);
    }
    if (!isConnected) return;
    // Counted, because a connection may be lost and restored within a tick.
    const isRecovering = losses !== lossesChecked || isNewSession || tickFailed;
    if (isRecovering) await store.prepare();
    if (losses !== lossesChecked) retryNow();
    if (isRecovering || ticks % TICKS_PER_CHECK === 0) await checkStore(states);
    lossesChecked = losses;
    ticks += 1;
    await pruning.runIfDue(states, () => stopping);
  }

  async function checkStore(states: readonly EnvironmentState[]): Promise<void> {
    for (const state of states) {
      const { environment } = state;
      if (stopping || state.pendingChanges > 0) continue;
      if (!checked.has(environment) || (await isDamaged(deps, state))) queue.add(environment);
    }
  }

  async function tickOrLog(): Promise<void> {
    try {
      await tick();
      if (tickFailed) log.info('outbox check succeeded again');
      tickFailed = false;
    } catch (error) {
      if (!tickFailed) log.warn({ err: error }, 'outbox check failed; retrying');
      tickFailed = true;
    }
    if (!stopping) tickTimer = clock.setTimer(TICK_MS, startTick);
  }

  function startTick(): void {
    ticking = tickOrLog();
  }

  store.onSnapshotRequest(snapshotRequested);
  startTick();
  return {
    async stop() {
      stopping = true;
      tickTimer?.cancel();
      for (const timer of retries.values()) timer.cancel();
      await Promise.all([queue.stop(), snapshotQueue.stop(), ticking]);
      await session.close();
    },
  };
}
