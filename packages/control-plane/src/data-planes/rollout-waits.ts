import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { PublicationTarget } from '../publish/store/publication-targets.ts';
import type { DataPlanes } from './data-planes.ts';
import type { WaitMetrics } from './wait-metrics.ts';
import type { WaitResult } from './wait-result.ts';

export interface RolloutWaitOptions {
  readonly dataPlanes: DataPlanes;
  /** The newest unpublished change of each of these environments; `*`: of all. */
  readonly readTargets: (environments: readonly string[]) => Promise<readonly PublicationTarget[]>;
  /** Those of the targets that are published. */
  readonly readPublished: (
    targets: readonly PublicationTarget[],
  ) => Promise<readonly PublicationTarget[]>;
  /** Whether NATS is connected, without which there are no heartbeats. */
  readonly isConnected: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WaitMetrics;
}

/** The largest number of waiting writes; further ones get `too_many_waiting` at once. */
export const MAX_WAITING = 200;
/** Finds what no event announces: a stale data plane, a lost notification. */
const CHECK_MS = 1000;

interface Waiter {
  /** Changes that are not published yet. */
  targets: readonly PublicationTarget[];
  /** Environment → the version that every live data plane must serve. */
  readonly versions: Map<string, number>;
  /** What was written, by id; undefined: anything. */
  readonly written: readonly string[] | undefined;
  readonly end: (result: WaitResult) => void;
}

/**
 * Lets writes wait until every live data plane serves them. It queries Postgres after each
 * publication, with one query at a time for all waiters, and checks the data planes after each heartbeat.
 */
export class RolloutWaits {
  readonly #options: RolloutWaitOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #unsubscribe: () => void;
  #waiting = 0;
  #timer: Timer | undefined;
  #stopped = false;
  #checking = false;
  #checkAgain = false;
  #failing = false;

  constructor(options: RolloutWaitOptions) {
    this.#options = options;
    this.#unsubscribe = options.dataPlanes.onChange(() => this.#endApplied());
    options.metrics.observe(() => this.#waiting);
  }

  /** Call this when any control plane has published an environment. */
  published(): void {
    if (this.#waiters.size > 0) void this.#check();
  }

  /**
   * Waits until every live data plane serves all changes made so far in these environments, for at most
   * `timeoutMs`. Never rejects, because the change is already made.
   *
   * @param written the ids of what was written; undefined: any element of the environments
   */
  async wait(
    environments: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
    written?: readonly string[],
  ): Promise<WaitResult> {
    const result = await this.#wait(environments, timeoutMs, signal, written);
    this.#options.metrics.waits.inc({ result });
    return result;
  }

  /** Ends all waits, and every later one at once. */
  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    for (const { end } of this.#waiters) end('stopping');
  }

  async #wait(
    environments: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
    written: readonly string[] | undefined,
  ): Promise<WaitResult> {
    if (this.#waiting >= MAX_WAITING) return 'too_many_waiting';
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<WaitResult>();
    const waiter: Waiter = { targets: [], versions: new Map(), written, end: resolve };
    // Until the targets are read, an empty list of them does not mean that everything is published.
    let hasTargets = false;
    const giveUp = () => resolve(hasTargets ? this.#resultOf(waiter) : 'not_published');
    const timer = this.#options.clock.setTimer(timeoutMs, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      waiter.targets = await this.#options.readTargets(environments);
      this.#moveToVersions(waiter, ({ lastId }) => lastId === null);
      hasTargets = true;
      const result = this.#resultOf(waiter);
      if (isFinal(result) || signal.aborted || timeoutMs <= 0) return result;
      if (this.#stopped) return 'stopping';
      this.#waiters.add(waiter);
      this.#timer ??= this.#checkLater();
      void this.#check();
      return await promise;
    } catch (error) {
      this.#logFailure(error);
      return 'not_published';
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
      this.#waiting -= 1;
    }
  }

  /** Replaces published targets by the versions that the data planes must serve. */
  #moveToVersions(waiter: Waiter, isPublished: (target: PublicationTarget) => boolean): void {
    for (const target of waiter.targets.filter(isPublished)) {
      waiter.versions.set(target.environment, target.version);
    }
    waiter.targets = waiter.targets.filter((target) => !isPublished(target));
  }

  #resultOf({ targets, versions, written }: Waiter): WaitResult {
    if (targets.length > 0) return 'not_published';
    if (!this.#options.isConnected()) return 'data_planes_behind';
    const { dataPlanes, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    switch (dataPlanes.rolloutState(versions, nowMs)) {
      case 'complete':
        return dataPlanes.cannotUse(versions.keys(), written, nowMs)
          ? 'configuration_unusable'
          : 'applied';
      case 'behind':
        return 'data_planes_behind';
      case 'unknown':
        return 'no_live_data_planes';
    }
  }

  #endApplied(): void {
    for (const waiter of this.#waiters) {
      const result = this.#resultOf(waiter);
      if (isFinal(result)) waiter.end(result);
    }
  }

  /** Runs one check at a time; calls during a check cause one more. */
  async #check(): Promise<void> {
    this.#checkAgain = true;
    if (this.#checking) return;
    this.#checking = true;
    try {
      while (this.#takeRequest()) await this.#checkOnce();
      this.#failing = false;
    } catch (error) {
      this.#logFailure(error);
    } finally {
      this.#checking = false;
    }
  }

  #takeRequest(): boolean {
    const isRequested = this.#checkAgain;
    this.#checkAgain = false;
    return isRequested;
  }

  async #checkOnce(): Promise<void> {
    const targets = new Map<string, PublicationTarget>();
    for (const waiter of this.#waiters) {
      for (const target of waiter.targets) targets.set(keyOf(target), target);
    }
    if (targets.size > 0) {
      const published = new Map(
        (await this.#options.readPublished([...targets.values()])).map((one) => [keyOf(one), one]),
      );
      for (const waiter of this.#waiters) {
        waiter.targets = waiter.targets.map((target) => published.get(keyOf(target)) ?? target);
        this.#moveToVersions(waiter, (target) => published.has(keyOf(target)));
      }
    }
    this.#endApplied();
  }

  #checkLater(): Timer {
    return this.#options.clock.setTimer(CHECK_MS, () => {
      this.#timer = this.#waiters.size > 0 && !this.#stopped ? this.#checkLater() : undefined;
      void this.#check();
    });
  }

  #logFailure(error: unknown): void {
    if (!this.#failing) {
      this.#options.log.warn({ reason: String(error) }, 'rollout check failed; retrying');
    }
    this.#failing = true;
  }
}

/** Whether every live data plane serves the version, so that waiting longer changes nothing. */
function isFinal(result: WaitResult): boolean {
  return result === 'applied' || result === 'configuration_unusable';
}

function keyOf({ environment, lastId }: PublicationTarget): string {
  return `${environment} ${lastId ?? ''}`;
}
