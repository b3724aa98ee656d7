import type { Clock } from '@gateway/shared/clock';
import type { EnvironmentState } from './store/publications.ts';

/** A snapshot waits this long after the first delta, so that it contains a whole burst of changes. */
const SETTLE_MS = 5000;
/** Snapshots use at most 1/COST_SHARE of the time, as far as `MAX_INTERVAL_MS` permits. */
const COST_SHARE = 100;
/** The longest time between two snapshots: a process that was suspended would measure a huge cost. */
const MAX_INTERVAL_MS = 300_000;

/**
 * Decides when a snapshot repeats what was published as deltas, so that a data plane that starts has
 * few deltas to apply. One follows some seconds after a change, but no sooner after the last snapshot
 * than a hundred times the cost of that one, or five minutes. So the cost of a change does not grow
 * with the configuration.
 */
export class SnapshotSchedule {
  readonly #clock: Clock;
  /** Since when an environment is known to be ahead of its snapshot. */
  readonly #aheadSinceMs = new Map<string, number>();
  /** Environments that need a snapshot now → how long ago the last one must have been begun, ms. */
  readonly #requests = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the environment needs a snapshot now; if so, requests it. */
  check(state: EnvironmentState): boolean {
    const { environment, configVersion, snapshotVersion, snapshotAgeMs, snapshotCostMs } = state;
    if (configVersion <= snapshotVersion) {
      this.#aheadSinceMs.delete(environment);
      return false;
    }
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#aheadSinceMs.get(environment) ?? nowMs;
    this.#aheadSinceMs.set(environment, sinceMs);
    const minAgeMs = Math.min(MAX_INTERVAL_MS, Math.max(SETTLE_MS, COST_SHARE * snapshotCostMs));
    if (nowMs - sinceMs < SETTLE_MS || snapshotAgeMs < minAgeMs) return false;
    this.#requests.set(environment, minAgeMs);
    return true;
  }

  /** Requests a snapshot unless one was begun in the last `minAgeMs`. The shortest time wins. */
  request(environment: string, minAgeMs: number): void {
    this.#requests.set(
      environment,
      Math.min(minAgeMs, this.#requests.get(environment) ?? minAgeMs),
    );
  }

  /** Takes the request of the environment: how long ago the last snapshot must have been begun, ms. */
  take(environment: string): number | undefined {
    const minAgeMs = this.#requests.get(environment);
    this.#requests.delete(environment);
    return minAgeMs;
  }
}
