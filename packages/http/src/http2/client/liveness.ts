import type { ControlFrames } from '../frame-writer.ts';
import { PING } from '../protocol.ts';

/** How often a server is asked while it is silent: servers of gRPC close connections that are asked more often. */
const REPEAT_MS = 300_000;

interface LivenessLimits {
  readonly silentMs: number;
  readonly pingTimeoutMs: number;
}

/**
 * Finds out whether a server is still there: a ping when nothing has arrived for a while although answers are due, and with
 * the first request after a while. Until something other than its answer arrives, the next one waits for five minutes.
 *
 * Time is counted by the checks, and no check counts more than a few seconds, so that a pause of this process is not taken
 * for one of the server.
 */
export class Liveness {
  readonly #control: ControlFrames;
  readonly #limits: LivenessLimits;
  readonly #maxStepMs: number;
  #checkedMs: number;
  /** For how long nothing has arrived. */
  #silentForMs = 0;
  /** Since the last ping that only its answer has followed; undefined: there is none. */
  #sinceAskedMs: number | undefined = undefined;
  /** Whether nothing has arrived since the last ping. */
  #isAsked = false;
  #isUnanswered = false;
  /** What had arrived at the last check: bytes, and frames without pings. */
  #bytes = 0;
  #frames = 0;

  /** @param maxStepMs the most that one check counts */
  constructor(control: ControlFrames, limits: LivenessLimits, nowMs: number, maxStepMs: number) {
    this.#control = control;
    this.#limits = limits;
    this.#checkedMs = nowMs;
    this.#maxStepMs = maxStepMs;
  }

  /** The first request is sent after a time without one. */
  begins(): void {
    if (this.#silentForMs >= this.#limits.silentMs) this.#ask();
  }

  /** The ping is answered. Returns false if there was none. */
  isAnswered(): boolean {
    const wasAsked = this.#isUnanswered;
    this.#isUnanswered = false;
    return wasAsked;
  }

  /**
   * Called often.
   *
   * @param bytes how many have arrived so far
   * @param frames how many have arrived so far, without pings
   * @returns whether the server is gone
   */
  check(nowMs: number, hasStreams: boolean, bytes: number, frames: number): boolean {
    const stepMs = Math.min(nowMs - this.#checkedMs, this.#maxStepMs);
    this.#checkedMs = nowMs;
    if (this.#sinceAskedMs !== undefined) this.#sinceAskedMs += stepMs;
    if (frames !== this.#frames) this.#sinceAskedMs = undefined;
    if (bytes !== this.#bytes) {
      this.#silentForMs = 0;
      this.#isAsked = false;
    } else this.#silentForMs += stepMs;
    this.#bytes = bytes;
    this.#frames = frames;
    if (this.#isAsked) return (this.#sinceAskedMs ?? 0) >= this.#limits.pingTimeoutMs;
    if (hasStreams && this.#silentForMs >= this.#limits.silentMs) this.#ask();
    return false;
  }

  #ask(): void {
    if (this.#sinceAskedMs !== undefined && this.#sinceAskedMs < REPEAT_MS) return;
    this.#sinceAskedMs = 0;
    this.#isAsked = this.#isUnanswered = true;
    this.#control.ping(PING.alive);
  }
}
