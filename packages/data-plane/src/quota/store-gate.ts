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

/**
 * Decides whether leases are available. After a failure only one probe at a time uses the store, and all requests are
 * decided without it, so that a store that hangs delays no request.
 */
export class StoreGate {
  readonly #options: StoreGateOptions;
  #open = true;
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
    this.#probeAtMs = this.#options.clock.monotonicMs() + PROBE_INTERVAL_MS;
    const wasOpen = this.#open;
    this.#open = false;
    if (wasOpen) this.#options.onChange(false, reason);
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
