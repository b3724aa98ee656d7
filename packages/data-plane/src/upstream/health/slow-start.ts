import type { UpstreamState } from './upstream-state.ts';

/** How long the share of an upstream that returned or is new rises. */
export const SLOW_START_MS = 10_000;
/** The part of its weight that it has at the beginning, and so the least share that it gets. */
export const SLOW_START_MIN_PART = 0.1;
/** The weights change in steps of this length. A hundred steps are smooth enough, and few requests compute them. */
const STEP_MS = SLOW_START_MS / 100;

/**
 * The part of its weight that an upstream has this long after it returned: it rises in a straight line. Source: the
 * slow start of Envoy (with `aggression` 1 and its default `min_weight_percent`) and the `slowstart` of HAProxy.
 */
export function slowStartPart(sinceMs: number, nowMs: number): number {
  const passed = Math.max(0, nowMs - sinceMs) / SLOW_START_MS;
  return Math.min(1, Math.max(SLOW_START_MIN_PART, passed));
}

/** Whether the share of the upstream still rises. */
export function isInSlowStart({ slowStartSinceMs }: UpstreamState, nowMs: number): boolean {
  return slowStartSinceMs !== undefined && slowStartPart(slowStartSinceMs, nowMs) < 1;
}

/**
 * The candidates of one service with the weights that they have now. While none is in slow start, these are the
 * candidates themselves and nothing is computed.
 */
export class SlowStart<T extends { readonly weight: number }> {
  readonly #candidates: readonly T[];
  readonly #states: readonly UpstreamState[];
  #weighted: readonly T[];
  /** Until when the weights hold; undefined: none is in slow start. */
  #untilMs: number | undefined;

  /** @param states of the candidates, in their order */
  constructor(candidates: readonly T[], states: readonly UpstreamState[]) {
    this.#candidates = candidates;
    this.#weighted = candidates;
    this.#states = states;
    if (states.some(({ slowStartSinceMs }) => slowStartSinceMs !== undefined)) this.changed();
  }

  /** One of the states has entered or left slow start. */
  changed(): void {
    this.#untilMs = -Infinity;
  }

  /** The candidates with their weights of now. */
  candidates(monotonicMs: () => number): readonly T[] {
    if (this.#untilMs === undefined) return this.#candidates;
    const nowMs = monotonicMs();
    if (nowMs >= this.#untilMs) this.#weigh(nowMs);
    return this.#weighted;
  }

  #weigh(nowMs: number): void {
    const parts = this.#states.map(({ slowStartSinceMs }) => {
      return slowStartSinceMs === undefined ? 1 : slowStartPart(slowStartSinceMs, nowMs);
    });
    if (parts.every((part) => part === 1)) {
      this.#weighted = this.#candidates;
      this.#untilMs = undefined;
      return;
    }
    this.#weighted = this.#candidates.map((candidate, index) => {
      return { ...candidate, weight: candidate.weight * (parts[index] ?? 1) };
    });
    this.#untilMs = nowMs + STEP_MS;
  }
}
