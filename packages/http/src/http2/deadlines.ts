/** How long a peer has to close a connection after its last GOAWAY. */
const CLOSE_MS = 1_000;
/** How long a peer has to acknowledge that the connection goes away. */
const GO_AWAY_MS = 1_000;

export interface DeadlineLimits {
  /** How long the preface, the acknowledgement of settings, and the rest of a header block may take. */
  readonly headTimeoutMs: number;
  /** How long a connection without a stream stays open. */
  readonly keepAliveTimeoutMs: number;
}

/** What is late: the connection is to be destroyed, was idle too long, and so on. */
type Due = 'destroy' | 'idle' | 'settings' | 'head' | 'going_away';

/** Since when a connection waits for its peer; ms, monotonic. */
export class Deadlines {
  #idleSinceMs: number | undefined;
  /** The first settings of the peer, and each acknowledgement of those of this end. */
  #prefaceSinceMs: number | undefined;
  #settingsSinceMs: number | undefined = undefined;
  #headSinceMs: number | undefined = undefined;
  #endingSinceMs: number | undefined = undefined;
  #goingAwaySinceMs: number | undefined = undefined;

  constructor(nowMs: number) {
    this.#idleSinceMs = this.#prefaceSinceMs = nowMs;
  }

  isIdle(nowMs: number): void {
    this.#idleSinceMs = nowMs;
  }

  hasStreams(): void {
    this.#idleSinceMs = undefined;
  }

  hasPreface(): void {
    this.#prefaceSinceMs = undefined;
  }

  /** Settings were sent. */
  awaitsSettings(nowMs: number): void {
    this.#settingsSinceMs ??= nowMs;
  }

  hasSettings(): void {
    this.#settingsSinceMs = undefined;
  }

  /** A header block has begun and needs CONTINUATION. */
  awaitsHead(nowMs: number): void {
    this.#headSinceMs = nowMs;
  }

  hasHead(): void {
    this.#headSinceMs = undefined;
  }

  isGoingAway(nowMs: number): void {
    this.#goingAwaySinceMs = nowMs;
  }

  isEnding(nowMs: number): void {
    this.#endingSinceMs = nowMs;
  }

  /** What is late, if anything is. */
  due(nowMs: number, limits: DeadlineLimits): Due | undefined {
    const isDue = (sinceMs: number | undefined, afterMs: number) =>
      sinceMs !== undefined && nowMs - sinceMs >= afterMs;
    if (isDue(this.#endingSinceMs, CLOSE_MS)) return 'destroy';
    if (isDue(this.#prefaceSinceMs, limits.headTimeoutMs)) return 'head';
    if (isDue(this.#headSinceMs, limits.headTimeoutMs)) return 'head';
    if (isDue(this.#settingsSinceMs, limits.headTimeoutMs)) return 'settings';
    if (isDue(this.#idleSinceMs, limits.keepAliveTimeoutMs)) return 'idle';
    if (!isDue(this.#goingAwaySinceMs, GO_AWAY_MS)) return undefined;
    this.#goingAwaySinceMs = undefined;
    return 'going_away';
  }
}
