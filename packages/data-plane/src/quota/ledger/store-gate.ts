import type { Clock } from '@gateway/shared/clock';

export interface StoreGateOptions {
  readonly clock: Clock;
  /** Whether the store is connected and its clock is known. */
  readonly usable: () => boolean;
  /** Checks whether the store is back. Called at intervals while it is unreachable. */
  readonly probe: () => void;
  /** Called when the store becomes unreachable, and when it is usable again. */
  readonly onChange: (open: boolean, reason: string) => void;
}

const PROBE_INTERVAL_MS = 500;
/** A store that is connected may just be slow, so it is expected to answer soon for this long. */
const SLOW_MS = 2000;

/**
 * Decides whether leases are available. After a failure only one probe at a time uses the store, and requests are decided
 * without it, so that a store that hangs delays no request that can be granted without it.
 */
export class StoreGate {
  readonly #options: StoreGateOptions;
  #open = true;
  #closedAtMs = -Infinity;
  #probeAtMs = 0;
  #waitingToProbe = false;

  constructor(options: StoreGateOptions) {
    this.#options = options;
  }

  /** Whether leases are available. */
  get open(): boolean {
    if (this.#open && !this.#options.usable()) this.failed('NATS is not connected');
    return this.#open;
  }

  /**
   * How long the store is still expected to answer soon, ms: it is connected, and has been unreachable only for a moment.
   * 0 if leases are available, and after that.
   */
  get slowForMs(): number {
    if (this.open || !this.#options.usable()) return 0;
    return Math.max(0, this.#closedAtMs + SLOW_MS - this.#options.clock.monotonicMs());
  }

  /** Whether the caller should probe the store. If so, no other caller does for a while. */
  claimProbe(): boolean {
    if (this.#open || !this.#options.usable()) return false;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#probeAtMs) return false;
    this.#probeAtMs = nowMs + PROBE_INTERVAL_MS;
    return true;
  }

  /** A call to the store has failed. */
  failed(reason: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#probeAtMs = nowMs + PROBE_INTERVAL_MS;
    const wasOpen = this.#open;
    this.#open = false;
    if (wasOpen) {
      this.#closedAtMs = nowMs;
      this.#options.onChange(false, reason);
    }
    this.#probeLater();
  }

  /** The store has answered. */
  answered(): void {
    if (this.#open) return;
    this.#open = true;
    this.#options.onChange(true, '');
  }

  #probeLater(): void {
    if (this.#waitingToProbe) return;
    this.#waitingToProbe = true;
    this.#options.clock.setTimer(PROBE_INTERVAL_MS, () => {
      this.#waitingToProbe = false;
      if (this.#open) return;
      this.#options.probe();
      this.#probeLater();
    });
  }
}
