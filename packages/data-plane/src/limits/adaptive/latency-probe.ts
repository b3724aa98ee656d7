/** Latency up to this much above the unloaded one is no sign of a queue: this part of it, and at least some ms. */
const TOLERATED_PART = 0.5;
const TOLERATED_MS = 2;
/** A step that leaves more than this part of the latency has not shortened a queue. */
const NOT_SHORTER = 0.85;
/** How often probes take place. */
const PERIOD_MS = 10_000;
/** A service whose latency is longer than this is probed four times less often, because its probes take longer. */
const SLOW_MS = 250;
/** For so long after the begin of a probe the data planes wait until the queue that all of them made has gone. */
const SETTLE_MS = 150;
/** A probe lasts at least so long, so that a data plane that has its result does not disturb the others. */
const MIN_PROBE_MS = 400;
/** The same for slow services, in latencies. */
const MIN_PROBE_LATENCIES = 4;

/** The highest latency that is no sign of a queue, ms. */
export function toleratedMs(unloadedMs: number): number {
  return unloadedMs + Math.max(unloadedMs * TOLERATED_PART, TOLERATED_MS);
}

/**
 * How long it is until the next time for a probe, ms. It is a multiple of the period by the wall clock, so that all data
 * planes probe at the same time: one alone would measure the queue that the others make, take it for the latency of the
 * unloaded upstream, and lengthen it.
 */
export function untilProbeMs(unloadedMs: number, wallMs: number): number {
  const slower = Math.max(0, Math.ceil(Math.log(unloadedMs / SLOW_MS) / Math.log(4)));
  const periodMs = PERIOD_MS * 4 ** slower;
  return periodMs - (wallMs % periodMs);
}

/** What a probe found: the latency that was known is right, or another one. */
export type ProbeResult = 'confirmed' | 'faster' | 'slower';

/**
 * A measurement of the latency that the upstream has without a queue. It holds the limit at half. If that is not enough
 * for the latency that was known, it halves the limit again as long as that makes responses faster.
 */
export class LatencyProbe {
  /** The limit that holds now. */
  limit: number;
  /** The lowest latency of its steps. */
  lowestMs = Infinity;
  /** Whether requests from before the step may still wait. */
  isDraining = true;
  readonly #minLimit: number;
  readonly #unloadedMs: number;
  readonly #settledMs: number;
  readonly #minEndMs: number;
  #previousMs = Infinity;
  #result: ProbeResult | undefined;

  /**
   * @param used how many requests waited before it
   * @param unloadedMs the latency without a queue that was known
   */
  constructor(used: number, minLimit: number, unloadedMs: number, nowMs: number) {
    this.limit = Math.max(minLimit, used / 2);
    this.#minLimit = minLimit;
    this.#unloadedMs = unloadedMs;
    this.#settledMs = nowMs + SETTLE_MS;
    this.#minEndMs = nowMs + Math.max(MIN_PROBE_MS, unloadedMs * MIN_PROBE_LATENCIES);
  }

  /** A response came when no more waited than may. Returns from when on responses belong to this step. */
  drained(latencyMs: number, nowMs: number): number {
    this.isDraining = false;
    return Math.max(this.#settledMs, nowMs + Math.min(latencyMs, this.#previousMs));
  }

  /** A window of this step is complete. Returns the result when the probe is over. */
  measured(latencyMs: number, nowMs: number): ProbeResult | undefined {
    this.lowestMs = Math.min(this.lowestMs, latencyMs);
    this.#result ??= this.#judge(latencyMs);
    if (this.#result !== undefined) return nowMs < this.#minEndMs ? undefined : this.#result;
    this.#previousMs = latencyMs;
    this.isDraining = true;
    this.limit = Math.max(this.#minLimit, this.limit / 2);
    return undefined;
  }

  #judge(latencyMs: number): ProbeResult | undefined {
    const unloadedMs = this.#unloadedMs;
    const isKnown = this.lowestMs > unloadedMs * NOT_SHORTER;
    if (isKnown && this.lowestMs <= toleratedMs(unloadedMs)) return 'confirmed';
    const helped = latencyMs <= this.#previousMs * NOT_SHORTER;
    if (helped && this.limit > this.#minLimit) return undefined;
    return isKnown ? 'slower' : 'faster';
  }
}
