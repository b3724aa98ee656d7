const MIN_WINDOW_MS = 100;
const MIN_SAMPLES = 25;
/** A response within the resolution of the clock must have a logarithm too. */
const SHORTEST_MS = 0.01;

/**
 * The latency of the responses in a window of time: their geometric mean. A few that are very slow move it little, also
 * if fast and slow requests are mixed. A queue, which delays all of them, moves it fully.
 */
export class LatencyWindow {
  #fromMs = -Infinity;
  #samples = 0;
  #sumOfLogarithms = 0;

  /** Forgets the samples, and takes those of responses from this time on. */
  restart(fromMs: number): void {
    this.#fromMs = fromMs;
    this.#samples = 0;
    this.#sumOfLogarithms = 0;
  }

  add(latencyMs: number, nowMs: number): void {
    if (this.#fromMs === -Infinity) this.#fromMs = nowMs;
    if (nowMs < this.#fromMs) return;
    this.#samples += 1;
    this.#sumOfLogarithms += Math.log(Math.max(SHORTEST_MS, latencyMs));
  }

  /**
   * Whether there are enough samples, and the window is long enough.
   *
   * @param usualMs the usual latency; a window that is shorter would have more fast responses than slow ones
   */
  isComplete(nowMs: number, usualMs: number): boolean {
    if (this.#samples < MIN_SAMPLES) return false;
    return nowMs - this.#fromMs >= Math.max(MIN_WINDOW_MS, usualMs);
  }

  get latencyMs(): number {
    return Math.exp(this.#sumOfLogarithms / this.#samples);
  }
}
