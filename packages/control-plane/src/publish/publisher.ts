import type { Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { PublisherSession, SessionNews } from '../store/publication/publisher-session.ts';
import { listPublicationStates, type EnvironmentState } from '../store/publication/publications.ts';
import { decidePublication } from './decide-publication.ts';
import { oldObjects } from './old-objects.ts';
import { publishEnvironment, type PublicationParts } from './publish-environment.ts';
import type { PublishMetrics } from './publish-metrics.ts';
import { SnapshotPlan } from './snapshot-plan.ts';
import { keptEntries, storeSnapshotWork, type SnapshotWork } from './snapshot-work.ts';
import { objectExists, readPublication } from './stored-publication.ts';
import { createWorkQueue } from './work-queue.ts';

/** How many environments are published at once, so that a token of all of them is out soon. */
const CONCURRENCY = 4;
/** The fallback for a notification that was lost, and the proof that the session still lives. */
const TICK_MS = 1000;
/** Every so many ticks the store itself is looked at, as its data may be gone without an event. */
const TICKS_PER_CHECK = 30;
/** How soon it is looked at again whether what another one published holds our changes. */
const LOST_RACE_RETRY_MS = 100;
/** How soon it is looked at again what became of what another one was publishing. */
const BUSY_RETRY_MS = 1000;
/** A data plane that asks for a snapshot gets one made no sooner after the last. */
const ASKED_MIN_AGE_MS = 1000;
/** What lets too many deltas pass by the last one is already being made a new one of. */
const DUE_MIN_AGE_MS = 5000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5000;
const LOG_EVERY_FAILURES = 20;

export interface PublisherOptions extends Omit<PublicationParts, 'session'> {
  /** Opens the Postgres session that listens for changes and holds the publication locks. */
  readonly openSession: (news: SessionNews) => PublisherSession;
  readonly log: Logger;
  readonly metrics: PublishMetrics;
  /** Told of each publication of an environment that is noted in Postgres, by whichever control plane. */
  readonly onPublished?: (environment: string) => void;
}

export interface Publisher {
  /** Lets what is being published end, then gives its connection back. */
  stop(): Promise<void>;
}

/**
 * Publishes each environment whose configuration changed: at once on the notification that comes
 * with the change, else within a tick. Any number of control planes do so side by side.
 *
 * While NATS or Postgres is away the changes wait in the outbox; each environment is tried again
 * with back-off. A pointer or object that is missing, or does not verify, is published anew; so is
 * what another version of the control plane compiled, so that an upgrade reaches the data planes.
 *
 * A change goes out as a delta; snapshots of what deltas have made follow at a share of the time that
 * they cost (`SnapshotPlan`).
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const { db, store, keys, clock, log, metrics } = options;
  const session = options.openSession({
    changed: (name) => queue.add(name),
    published: (name) => options.onPublished?.(name),
  });
  const parts: PublicationParts = { ...options, session };
  const queue = createWorkQueue(CONCURRENCY, publish);
  const failures = new Map<string, number>();
  const retries = new Map<string, Timer>();
  /**
   * Environments that this process has published, or found signed with the newest key and compiled
   * as it would. Once only: during a change of keys, or of versions, two control planes must not
   * publish in turns for ever.
   */
  const settled = new Set<string>();
  const plan = new SnapshotPlan(clock);
  /** Snapshots to be made of what was published as deltas, one at a time. */
  const works = new Map<string, SnapshotWork>();
  const workQueue = createWorkQueue(1, makeSnapshot);
  let stopping = false;
  /** How many losses of the connection are made up for; undefined before the first look at the store. */
  let lossesSeen: number | undefined;
  let publishedSincePrune = true;
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

  /** What waits because NATS was away need not wait any longer. */
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
      const result = await publishEnvironment(parts, environment, {
        first: !settled.has(environment),
        snapshotMinAgeMs: plan.take(environment),
      });
      // Whoever holds the lock was told of the same changes. It may die, or be a connection of our own
      // that Postgres has not seen the end of.
      if (result.kind === 'busy') {
        publishLater(environment, BUSY_RETRY_MS);
        return;
      }
      if (result.kind === 'lost_race') {
        publishLater(environment, LOST_RACE_RETRY_MS);
        return;
      }
      settled.add(environment);
      if (failures.delete(environment)) log.info({ environment }, 'publishing works again');
      if (result.snapshotWork !== undefined) {
        works.set(environment, result.snapshotWork);
        workQueue.add(environment);
      }
      if (result.kind === 'unchanged') return;
      const { form, version, why, lagMs } = result;
      publishedSincePrune ||= form === 'snapshot';
      const tookMs = clock.monotonicMs() - startedMs;
      metrics.duration.observe({ form }, tookMs / 1000);
      metrics.lastVersion.set({ environment }, version);
      if (lagMs !== undefined) metrics.lag.observe(lagMs / 1000);
      log.info({ environment, form, version, why, took_ms: Math.round(tookMs) }, 'published');
      if (!result.snapshotIsDue) return;
      plan.want(environment, DUE_MIN_AGE_MS);
      queue.add(environment);
    } catch (error) {
      failed(environment, error);
    }
  }

  /** Outside of the lock, so that changes are published meanwhile. Should it fail, the plan has it again. */
  async function makeSnapshot(environment: string): Promise<void> {
    const work = works.get(environment);
    if (work === undefined) return;
    works.delete(environment);
    const startedMs = clock.monotonicMs();
    try {
      await storeSnapshotWork(parts, work);
      publishedSincePrune = true;
      const tookMs = clock.monotonicMs() - startedMs;
      metrics.duration.observe({ form: 'repeated' }, tookMs / 1000);
      const { version } = work;
      log.info({ environment, version, took_ms: Math.round(tookMs) }, 'a snapshot was made');
    } catch (error) {
      metrics.failures.inc();
      log.warn({ environment, err: error }, 'a snapshot cannot be made; it is tried again');
    }
  }

  /** A data plane asks, as what the log holds does not lead on from what it has. */
  function wanted(environment: string): void {
    if (!settled.has(environment)) return;
    plan.want(environment, ASKED_MIN_AGE_MS);
    queue.add(environment);
  }

  function failed(environment: string, error: unknown): void {
    const count = failures.get(environment) ?? 0;
    failures.set(environment, count + 1);
    metrics.failures.inc();
    if (count % LOG_EVERY_FAILURES === 0) {
      log.warn({ environment, err: error }, 'cannot publish; the changes wait in the outbox');
    }
    publishLater(environment, Math.min(FIRST_BACKOFF_MS * 2 ** count, MAX_BACKOFF_MS));
  }

  async function tick(): Promise<void> {
    const isConnected = store.isConnected();
    const losses = store.losses();
    const isNew = await session.ensureConnected();
    const states = await listPublicationStates(db);
    metrics.pending.set(states.reduce((sum, state) => sum + state.pendingChanges, 0));
    for (const state of states) {
      // One that fails is tried again by its own back-off.
      const due = plan.look(state) || state.pendingChanges > 0;
      if (due && !failures.has(state.environment)) queue.add(state.environment);
    }
    if (!isConnected) return;
    // By a count, as a break may be over within a tick.
    const recovering = losses !== lossesSeen || isNew || tickFailed;
    if (recovering) await store.prepare();
    if (losses !== lossesSeen) retryNow();
    if (recovering || ticks % TICKS_PER_CHECK === 0) await checkStore(states);
    lossesSeen = losses;
    if (publishedSincePrune) await prune(states);
    ticks += 1;
  }

  /** Looks without a lock, as a look costs nothing; what seems wrong is looked at again under it. */
  async function checkStore(states: readonly EnvironmentState[]): Promise<void> {
    for (const { environment, configVersion, pendingChanges } of states) {
      if (stopping || pendingChanges > 0) continue;
      if (!settled.has(environment)) {
        queue.add(environment);
        continue;
      }
      const { pointer, tail } = await readPublication(store, environment, keys);
      const decision = decidePublication({
        pendingChanges,
        configVersion,
        pointer,
        tail,
        objectExists: await objectExists(store, pointer),
        wantedKeyId: undefined,
        compiledAlike: true,
      });
      if (decision.publish) queue.add(environment);
    }
  }

  async function prune(states: readonly EnvironmentState[]): Promise<void> {
    publishedSincePrune = false;
    const versions = new Map<string, number>();
    for (const { environment } of states) {
      const { pointer, tail } = await readPublication(store, environment, keys);
      if (pointer === undefined) continue;
      versions.set(environment, pointer.version);
      await store.trimLog(environment, keptEntries(tail));
    }
    for (const name of oldObjects(await store.listObjects(), versions)) {
      if (stopping) return;
      await store.removeObject(name);
    }
  }

  async function tickSafely(): Promise<void> {
    try {
      await tick();
      if (tickFailed) log.info('the outbox and the snapshot store can be looked at again');
      tickFailed = false;
    } catch (error) {
      if (!tickFailed) log.warn({ err: error }, 'cannot look at the outbox or the snapshot store');
      tickFailed = true;
    }
    if (!stopping) tickTimer = clock.setTimer(TICK_MS, startTick);
  }

  function startTick(): void {
    ticking = tickSafely();
  }

  store.onWanted(wanted);
  startTick();
  return {
    async stop() {
      stopping = true;
      tickTimer?.cancel();
      for (const timer of retries.values()) timer.cancel();
      await Promise.all([queue.stop(), workQueue.stop(), ticking]);
      await session.close();
    },
  };
}
