import { pause, type Clock } from '@gateway/shared/clock';

export interface StoreGateOptions {
  readonly clock: Clock;
  /** Whether it is worth asking at all. */
  readonly usable: () => boolean;
  /** Finds out whether the store is back; called now and then while it is away. */
  readonly probe: () => void;
  /** Tells the store all that was taken without it. Never rejects. */
  readonly settleDebts: () => Promise<void>;
  /** Told when the store is lost, and when it is of use again. */
  readonly onChange: (open: boolean, reason: string) => void;
}

const PROBE_INTERVAL_MS = 500;
/**
 * From the first answer until leases are taken again: the others, who come back at other moments, tell
 * the store meanwhile what they took without it.
 */
const SETTLE_MS = 1500;

/**
 * Whether leases are available now. Once the store has failed it is asked by one probe at a time, and
 * everybody else is answered without it, so that a store that hangs slows nothing down.
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

  get open(): boolean {
    if (this.#state === 'open' && !this.#options.usable()) this.failed('it cannot be reached');
    return this.#state === 'open';
  }

  /** Whether the caller shall find out if the store is back; then nobody else does for a while. */
  claimProbe(): boolean {
    if (this.#state !== 'away' || !this.#options.usable()) return false;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#probeAtMs) return false;
    this.#probeAtMs = nowMs + PROBE_INTERVAL_MS;
    return true;
  }

  failed(reason: string): void {
    this.#probeAtMs = this.#options.clock.monotonicMs() + PROBE_INTERVAL_MS;
    const wasOpen = this.#state === 'open';
    this.#state = 'away';
    if (wasOpen) this.#options.onChange(false, reason);
    this.#probeLater();
  }

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

  /** A failure on the way ends it: the next answer begins anew. */
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
