import { LatencyProbe, toleratedMs, untilProbeMs, type ProbeResult } from './latency-probe.ts';
import { LatencyWindow } from './latency-window.ts';

/** The limit before anything is known. */
export const INITIAL_LIMIT = 50;
const MIN_LIMIT = 1;
const MAX_LIMIT = 1_000_000;
/** One window may change the limit by these factors. */
const MAX_FALL = 0.5;
const MAX_RISE = 1.25;
/** The rise per window while the limit has never been too high. */
const FIRST_RISE = 2;
/** Between two probes the limit falls to no less than this part, because the upstream may just have become slower. */
const MAX_FALL_BETWEEN_PROBES = 0.25;
/** How fast the unloaded latency follows the windows that show it. */
const FOLLOW = 0.1;
const FOLLOW_PROBE = 0.5;
/** When a limit that has had too much load is probed for the first time. */
const FIRST_PROBE_MS = 1000;

/**
 * How many requests to one service may wait for a response in this process. A latency above that of the unloaded
 * upstream means that requests wait in a queue of it; then the limit falls until few do. It costs some operations for
 * each request and allocates nothing.
 *
 * The rule is the gradient controller of Envoy's adaptive concurrency filter: after each window, limit × (unloaded
 * latency + tolerance) / latency, plus a headroom of the order of the root of the limit. Two parts are those of Gradient2
 * in Netflix' concurrency-limits: the tolerance of one half, and that a limit of which less than half was used stays as
 * it is. Probes of the unloaded latency are our own. docs/adr/0029 has the reasons.
 *
 * It counts requests until the head of their response, so a long download or an open tunnel does not use it up.
 */
export class AdaptiveLimit {
  readonly #wallMs: () => number;
  readonly #window = new LatencyWindow();
  #limit = INITIAL_LIMIT;
  #waiting = 0;
  /** The most requests that waited during this window, and during the one before. */
  #peak = 0;
  #previousPeak = 0;
  #latencyMs = 0;
  /** The latency without a queue; undefined: not known yet. */
  #unloadedMs: number | undefined;
  #isFirstRise = true;

  #probe: LatencyProbe | undefined;
  #limitAfterProbe = INITIAL_LIMIT;
  /** The limit at the end of the last probe. */
  #probedLimit = INITIAL_LIMIT;
  #nextProbeMs = -Infinity;
  /** Whether it has refused requests since the last probe. */
  #hasRefused = false;
  /** By how much windows with too high a latency outnumber the others since the last probe. */
  #slowWindows = 0;

  /** @param wallMs the wall clock, which is nearly the same in all data planes */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** The number of requests that may wait now. */
  get limit(): number {
    return Math.floor(this.#probe?.limit ?? this.#limit);
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether no further request may wait. */
  get isReached(): boolean {
    return this.#waiting >= this.limit;
  }

  /** Whether one more request may wait. If not, the caller refuses a request. */
  hasRoom(): boolean {
    if (!this.isReached) return true;
    this.#peak = Math.max(this.#peak, this.#waiting);
    if (this.#probe === undefined) this.#hasRefused = true;
    return false;
  }

  /** A request is about to be sent. Returns false if it may not, because too many wait. */
  begin(): boolean {
    if (!this.hasRoom()) return false;
    this.#waiting += 1;
    if (this.#waiting > this.#peak) this.#peak = this.#waiting;
    return true;
  }

  /** The caller of a request left after this time. */
  abandon(waitedMs: number, nowMs: number): void {
    // The response would have taken longer. That says something only if it is slow already. Without these, nothing would
    // be measured of an upstream that is slower than its callers wait.
    this.end(waitedMs > (this.#unloadedMs ?? Infinity) ? waitedMs : undefined, nowMs);
  }

  /**
   * A request that `begin` allowed waits no more.
   *
   * @param latencyMs until its response or its timeout; undefined if it says nothing about the load of the upstream
   */
  end(latencyMs: number | undefined, nowMs: number): void {
    this.#waiting -= 1;
    if (latencyMs === undefined) return;
    if (nowMs >= this.#nextProbeMs) this.#considerProbe(nowMs);
    const probe = this.#probe;
    if (probe?.isDraining === true) {
      if (this.#waiting > probe.limit) return;
      this.#window.restart(probe.drained(latencyMs, nowMs));
    }
    this.#window.add(latencyMs, nowMs);
    if (this.#window.isComplete(nowMs, this.#unloadedMs ?? 0)) this.#completeWindow(nowMs);
  }

  #completeWindow(nowMs: number): void {
    const latencyMs = this.#window.latencyMs;
    const before = this.limit;
    this.#latencyMs = latencyMs;
    if (this.#probe === undefined) this.#adjust(latencyMs);
    else this.#continueProbe(this.#probe, latencyMs, nowMs);
    this.#previousPeak = this.#peak;
    this.#peak = this.#waiting;
    // The next responses are those of requests under the limit before.
    this.#window.restart(this.limit === before ? nowMs : nowMs + latencyMs);
  }

  #adjust(latencyMs: number): void {
    const unloadedMs = this.#unloadedMs;
    if (unloadedMs === undefined) {
      this.#unloadedMs = latencyMs;
      return;
    }
    const gradient = toleratedMs(unloadedMs) / latencyMs;
    this.#slowWindows += gradient < 1 ? 1 : -1;
    const isUsed = this.#peak * 2 >= this.#limit;
    if (latencyMs < unloadedMs || (!isUsed && gradient >= 1)) {
      this.#unloadedMs = unloadedMs + (latencyMs - unloadedMs) * FOLLOW;
    }
    if (!isUsed) return;
    if (gradient < 1) this.#isFirstRise = false;
    const maxRise = this.#isFirstRise ? FIRST_RISE : MAX_RISE;
    const factor = gradient < 1 ? Math.max(MAX_FALL, gradient) : maxRise;
    const limit = this.#limit * factor + headroom(this.#limit);
    this.#setLimit(Math.max(limit, this.#probedLimit * MAX_FALL_BETWEEN_PROBES));
  }

  /** Begins a probe at its time if the limit may be wrong: it refused requests, or the latency has been high. */
  #considerProbe(nowMs: number): void {
    const unloadedMs = this.#unloadedMs;
    if (unloadedMs === undefined) {
      this.#nextProbeMs = nowMs + FIRST_PROBE_MS;
      return;
    }
    this.#nextProbeMs = nowMs + untilProbeMs(unloadedMs, this.#wallMs());
    if (this.#probe !== undefined) return;
    const isDue = this.#hasRefused || this.#slowWindows > 0;
    this.#hasRefused = false;
    this.#slowWindows = 0;
    if (!isDue) return;
    const used = Math.min(this.#limit, Math.max(this.#peak, this.#previousPeak));
    // With a queue, the limit must be one that is used, otherwise it would not fall.
    this.#limitAfterProbe = this.#latencyMs > toleratedMs(unloadedMs) ? used : this.#limit;
    this.#probe = new LatencyProbe(used, MIN_LIMIT, unloadedMs, nowMs);
  }

  #continueProbe(probe: LatencyProbe, latencyMs: number, nowMs: number): void {
    const result = probe.measured(latencyMs, nowMs);
    if (result === undefined) return;
    this.#probe = undefined;
    this.#learn(result, probe.lowestMs);
    this.#probedLimit = this.#limit;
  }

  #learn(result: ProbeResult, lowestMs: number): void {
    const unloadedMs = this.#unloadedMs ?? lowestMs;
    const follow = result === 'confirmed' ? FOLLOW_PROBE : 1;
    this.#unloadedMs = unloadedMs + (lowestMs - unloadedMs) * follow;
    // If the upstream became slower by itself, the limit has fallen in vain since the last probe.
    const least = result === 'slower' ? this.#probedLimit : MIN_LIMIT;
    this.#setLimit(Math.max(this.#limitAfterProbe, least));
  }

  #setLimit(limit: number): void {
    this.#limit = Math.min(MAX_LIMIT, Math.max(MIN_LIMIT, limit));
  }
}

/** How much the limit may exceed what seems right, so that it finds capacity that has become free. */
function headroom(limit: number): number {
  return Math.max(1, Math.sqrt(limit) / 2);
}
