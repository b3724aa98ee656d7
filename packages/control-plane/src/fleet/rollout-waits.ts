import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { PublicationTarget } from '../store/publication/publication-targets.ts';
import type { DataPlanes } from './data-planes.ts';
import type { WaitMetrics } from './wait-metrics.ts';

/**
 * Why it is not known that a change is served: NATS is away or slow; some live data plane does not
 * serve it yet, refuses it, or cannot be heard now; there is none; so many wait that this one may not;
 * this control plane stops.
 */
export const WAIT_REASONS = [
  ...(['not_published', 'data_planes_behind', 'no_live_data_planes'] as const),
  ...(['too_many_waiting', 'stopping'] as const),
] as const;

export type WaitResult = 'applied' | (typeof WAIT_REASONS)[number];

export interface RolloutWaitOptions {
  readonly dataPlanes: DataPlanes;
  /** What is to be published of all that was changed in these environments until now; `*`: in all. */
  readonly readTargets: (environments: readonly string[]) => Promise<readonly PublicationTarget[]>;
  /** Those of the targets that are published. */
  readonly readPublished: (
    targets: readonly PublicationTarget[],
  ) => Promise<readonly PublicationTarget[]>;
  /** Whether data planes can be heard. */
  readonly isConnected: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WaitMetrics;
}

/** So many calls may wait at one time; what comes beyond is answered at once. */
export const MAX_WAITING = 200;
/** How often it is looked for what no event tells: a data plane that went stale, a lost notification. */
const LOOK_MS = 1000;

interface Waiter {
  /** What is not published yet. */
  targets: readonly PublicationTarget[];
  /** Environment → the version that every live data plane shall serve. */
  readonly versions: Map<string, number>;
  readonly end: (result: WaitResult) => void;
}

/**
 * Lets writes wait until every live data plane serves them. It asks Postgres when it hears of a
 * publication, one question at a time for all who wait, and judges with each heartbeat.
 */
export class RolloutWaits {
  readonly #options: RolloutWaitOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #stopListening: () => void;
  #calls = 0;
  #timer: Timer | undefined;
  #stopped = false;
  #looking = false;
  #lookAgain = false;
  #failing = false;

  constructor(options: RolloutWaitOptions) {
    this.#options = options;
    this.#stopListening = options.dataPlanes.onChange(() => this.#judgeAll());
    options.metrics.observe(() => this.#calls);
  }

  /** To be called when an environment was published, by whichever control plane. */
  published(): void {
    if (this.#waiters.size > 0) void this.#look();
  }

  /**
   * Waits until every live data plane serves all that was changed in these environments until now, for
   * `timeoutMs` at most. Never rejects: the change is made, whatever comes of the wait.
   */
  async wait(
    environments: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<WaitResult> {
    const result = await this.#wait(environments, timeoutMs, signal);
    this.#options.metrics.waits.inc({ result });
    return result;
  }

  /** Ends all waits, and those that come. */
  stop(): void {
    this.#stopped = true;
    this.#stopListening();
    this.#timer?.cancel();
    for (const { end } of this.#waiters) end('stopping');
  }

  async #wait(
    environments: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<WaitResult> {
    if (this.#calls >= MAX_WAITING) return 'too_many_waiting';
    this.#calls += 1;
    const { promise, resolve } = Promise.withResolvers<WaitResult>();
    const waiter: Waiter = { targets: [], versions: new Map(), end: resolve };
    // Before it is known what there is to wait for, nothing can be said to be served.
    let isKnown = false;
    const giveUp = () => resolve(isKnown ? this.#judge(waiter) : 'not_published');
    const timer = this.#options.clock.setTimer(timeoutMs, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      waiter.targets = await this.#options.readTargets(environments);
      this.#note(waiter, ({ lastId }) => lastId === null);
      isKnown = true;
      const result = this.#judge(waiter);
      if (result === 'applied' || signal.aborted || timeoutMs <= 0) return result;
      if (this.#stopped) return 'stopping';
      this.#waiters.add(waiter);
      this.#timer ??= this.#tickLater();
      void this.#look();
      return await promise;
    } catch (error) {
      this.#failed(error);
      return 'not_published';
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
      this.#calls -= 1;
    }
  }

  /** Takes what is published from the targets to the versions that are waited for. */
  #note(waiter: Waiter, isPublished: (target: PublicationTarget) => boolean): void {
    for (const target of waiter.targets.filter(isPublished)) {
      waiter.versions.set(target.environment, target.version);
    }
    waiter.targets = waiter.targets.filter((target) => !isPublished(target));
  }

  #judge({ targets, versions }: Waiter): WaitResult {
    if (targets.length > 0) return 'not_published';
    if (!this.#options.isConnected()) return 'data_planes_behind';
    const { dataPlanes, clock } = this.#options;
    switch (dataPlanes.judge(versions, clock.monotonicMs())) {
      case 'everywhere':
        return 'applied';
      case 'behind':
        return 'data_planes_behind';
      case 'none':
        return 'no_live_data_planes';
    }
  }

  #judgeAll(): void {
    for (const waiter of this.#waiters) {
      if (this.#judge(waiter) === 'applied') waiter.end('applied');
    }
  }

  /** One question at a time; what comes meanwhile is asked afterwards. */
  async #look(): Promise<void> {
    this.#lookAgain = true;
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#takeTurn()) await this.#lookOnce();
      this.#failing = false;
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#looking = false;
    }
  }

  #takeTurn(): boolean {
    const isWanted = this.#lookAgain;
    this.#lookAgain = false;
    return isWanted;
  }

  async #lookOnce(): Promise<void> {
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
        this.#note(waiter, (target) => published.has(keyOf(target)));
      }
    }
    this.#judgeAll();
  }

  #tickLater(): Timer {
    return this.#options.clock.setTimer(LOOK_MS, () => {
      this.#timer = this.#waiters.size > 0 && !this.#stopped ? this.#tickLater() : undefined;
      void this.#look();
    });
  }

  #failed(error: unknown): void {
    if (!this.#failing) {
      this.#options.log.warn(
        { reason: String(error) },
        'cannot look at what is published, which calls wait for',
      );
    }
    this.#failing = true;
  }
}

function keyOf({ environment, lastId }: PublicationTarget): string {
  return `${environment} ${lastId ?? ''}`;
}
