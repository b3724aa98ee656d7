import type { Clock } from '@gateway/shared/clock';
import type { EnvironmentState } from '../store/publication/publications.ts';

/** A rush of changes is let pass by, so that one snapshot holds all of it. */
const SETTLE_MS = 5000;
/** Making snapshots takes at most one part in so many of the time, as far as the next bound lets it. */
const COST_SHARE = 100;
/** And yet no later than this after the last: one that took long may only have stood still. */
const MAX_APART_MS = 300_000;

/**
 * When snapshots are made of what was published as deltas. Data planes of the version before know
 * snapshots alone, and a start goes through fewer deltas; so one is made some seconds after a change,
 * and no sooner after the last than a hundred times what that one took, or five minutes. The price of a
 * change so does not grow with the configuration, and what knows snapshots alone has it within that time.
 */
export class SnapshotPlan {
  readonly #clock: Clock;
  /** Since when an environment is seen to be ahead of its snapshot. */
  readonly #aheadSinceMs = new Map<string, number>();
  /** Environments of which one is wanted now, unless one was begun in the last so many ms. */
  readonly #wanted = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at an environment. Returns whether a snapshot of it is to be made now. */
  look(state: EnvironmentState): boolean {
    const { environment, configVersion, snapshotVersion, snapshotAgeMs, snapshotCostMs } = state;
    if (configVersion <= snapshotVersion) {
      this.#aheadSinceMs.delete(environment);
      return false;
    }
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#aheadSinceMs.get(environment) ?? nowMs;
    this.#aheadSinceMs.set(environment, sinceMs);
    const minAgeMs = Math.min(MAX_APART_MS, Math.max(SETTLE_MS, COST_SHARE * snapshotCostMs));
    if (nowMs - sinceMs < SETTLE_MS || snapshotAgeMs < minAgeMs) return false;
    this.#wanted.set(environment, minAgeMs);
    return true;
  }

  want(environment: string, minAgeMs: number): void {
    this.#wanted.set(environment, Math.min(minAgeMs, this.#wanted.get(environment) ?? minAgeMs));
  }

  /** What is wanted of the environment: how long ago the last snapshot must have been begun, ms. */
  take(environment: string): number | undefined {
    const minAgeMs = this.#wanted.get(environment);
    this.#wanted.delete(environment);
    return minAgeMs;
  }
}
