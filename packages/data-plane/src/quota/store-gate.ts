import { pause, type Clock } from '@gateway/shared/clock';

export interface StoreGateOptions {
  readonly clock: Clock;
  /** Whether the store is connected and its clock is known. */
  readonly usable: () => boolean;
  /** Checks whether the store is back. Called at intervals while it is unreachable. */
  readonly probe: () => void;
  /** Stores what was granted without the store. Never rejects. */
  readonly settleDebts: () => Promise<void>;
  /** Called when the store becomes unreachable, and when it is usable again. */
  readonly onChange: (open: boolean, reason: string) => void;
}

const PROBE_INTERVAL_MS = 500;
/**
 * The time from the first answer until leases are taken again. Meanwhile other data planes, which reconnect at other
 * times, store what they granted without the store.
 */
const SETTLE_MS = 1500;

/**
 * Decides whether leases are available. After a failure only one probe at a time uses the store, and all requests are
 * decided without it, so that a store that hangs delays no request.
 */
export class StoreGate {
  readonly #options: StoreGateOptions;
  #state: 'open' | 'away' | 'settling' = 'open';
  #probeAtMs = 0;
  #waitingToProbe = false;
  #settlements = 0;

  constructor(options: StoreGateOptions) {
    this.#options = options;
  }

  /** Whether leases are available. */
  get open(): boolean {
    if (this.#state === 'open' && !this.#options.usable()) this.failed('NATS is not connected');
    return this.#state === 'open';
  }

  /** Whether the caller should probe the store. If so, no other caller does for a while. */
  claimProbe(): boolean {
    if (this.#state !== 'away' || !this.#options.usable()) return false;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#probeAtMs) return false;
    this.#probeAtMs = nowMs + PROBE_INTERVAL_MS;
    return true;
  }

  /** A call to the store has failed. */
  failed(reason: string): void {
    this.#probeAtMs = this.#options.clock.monotonicMs() + PROBE_INTERVAL_MS;
    const wasOpen = this.#state === 'open';
    this.#state = 'away';
    if (wasOpen) this.#options.onChange(false, reason);
    this.#probeLater();
  }

  /** The store has answered. */
  answered(): void {
    if (this.#state !== 'away') return;
    this.#state = 'settling';
    void this.#settle();
  }

  #probeLater(): void {
    if (this.#waitingToProbe) return;
    this.#waitingToProbe = true;
    this.#options.clock.setTimer(PROBE_INTERVAL_MS, () => {
      this.#waitingToProbe = false;
      if (this.#state !== 'away') return;
      this.#options.probe();
      this.#probeLater();
    });
  }

  /** A failure meanwhile ends this settlement, and the next answer starts another one. */
  async #settle(): Promise<void> {
    const { clock, settleDebts, onChange } = this.#options;
    this.#settlements += 1;
    const settlement = this.#settlements;
    await settleDebts();
    await pause(clock, SETTLE_MS);
    await settleDebts();
    if (this.#state !== 'settling' || settlement !== this.#settlements) return;
    this.#state = 'open';
    onChange(true, '');
  }
}
