import { HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';

/** Whoever may write to NATS must not be able to fill a data plane's memory. */
const MAX_PEERS = 10_000;

/**
 * The live data planes, from the heartbeats that this one receives, its own included. A peer's silence counts
 * only up to the last own beat that was received: while NATS is away no beat arrives at all, which says
 * nothing about the peers, so the last known number stands.
 */
export class LivePeers {
  readonly #self: string;
  readonly #heardAtMs = new Map<string, number>();
  #selfHeardAtMs: number | undefined = undefined;

  constructor(self: string) {
    this.#self = self;
  }

  heard(id: string, nowMs: number): void {
    if (id === this.#self) {
      this.#returned(nowMs);
      return;
    }
    if (this.#heardAtMs.size < MAX_PEERS || this.#heardAtMs.has(id)) this.#heardAtMs.set(id, nowMs);
  }

  left(id: string): void {
    this.#heardAtMs.delete(id);
  }

  has(id: string): boolean {
    return this.#heardAtMs.has(id);
  }

  /** This data plane and its live peers: at least 1. */
  get count(): number {
    return 1 + this.#heardAtMs.size;
  }

  #returned(nowMs: number): void {
    const silentMs = nowMs - (this.#selfHeardAtMs ?? nowMs);
    this.#selfHeardAtMs = nowMs;
    // After an interruption the peers get a full lifetime to be heard again.
    const interrupted = silentMs > HEARTBEAT_LIFETIME_MS;
    for (const [id, heardAtMs] of this.#heardAtMs) {
      if (interrupted) this.#heardAtMs.set(id, Math.max(heardAtMs, nowMs));
      else if (nowMs - heardAtMs > HEARTBEAT_LIFETIME_MS) this.#heardAtMs.delete(id);
    }
  }
}
