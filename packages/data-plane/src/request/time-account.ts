/** What a request waits for within the gateway. */
export const WAIT_KINDS = ['key', 'quota', 'connection', 'retry'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** Where the time of a request goes: each instant belongs to one of these. */
export type TimeState = 'gateway' | 'receiving' | 'upstream' | 'sending' | WaitKind;

/**
 * The account of the time of one request, in whole microseconds since its arrival. Each instant is added to exactly one
 * state, so the states add up to the total, also as they are printed.
 *
 * Two things may happen at once only in the state `upstream`. Then the caller comes first: an upstream is charged for no
 * instant in which the gateway also waits for its caller (ADR 0054).
 */
export class TimeAccount {
  gatewayUs = 0;
  receivingUs = 0;
  keyUs = 0;
  quotaUs = 0;
  connectionUs = 0;
  retryUs = 0;
  upstreamUs = 0;
  sendingUs = 0;
  readonly #startedMs: number;
  /** Until when the time is added, since the arrival. */
  #untilUs = 0;
  #state: TimeState = 'gateway';
  #awaitsUpload = false;
  #awaitsDrain = false;
  #whenReceived: (() => void) | undefined = undefined;

  /** @param startedMs when the request arrived, by the monotonic clock */
  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** The time until the last entry. */
  get totalUs(): number {
    return this.#untilUs;
  }

  get waitingUs(): number {
    return this.keyUs + this.quotaUs + this.connectionUs + this.retryUs;
  }

  /** Whether the gateway waits for bytes of the request body, and for nothing else. */
  get isReceiving(): boolean {
    if (this.#state !== 'upstream') return this.#state === 'receiving';
    return this.#awaitsUpload && !this.#awaitsDrain;
  }

  /** The time in `receiving` until now. */
  receivedUs(nowMs: number): number {
    this.#addUntil(nowMs);
    return this.receivingUs;
  }

  /** Calls this once, when bytes of the request body are awaited no more. */
  whenReceived(listener: () => void): void {
    this.#whenReceived = listener;
  }

  /** From this time on the request is in this state. */
  enter(state: TimeState, nowMs: number): void {
    this.#addUntil(nowMs);
    this.#state = state;
  }

  /** As `enter`, at the time of the last entry. */
  enterAtOnce(state: TimeState): void {
    this.#state = state;
  }

  /** From this time on the gateway waits, or does not wait, for bytes of the request body. */
  awaitUpload(awaited: boolean, nowMs: number): void {
    if (this.#awaitsUpload === awaited) return;
    this.#addUntil(nowMs);
    this.#awaitsUpload = awaited;
    if (awaited) return;
    const listener = this.#whenReceived;
    this.#whenReceived = undefined;
    listener?.();
  }

  /** From this time on the gateway waits, or does not wait, for the caller to take bytes of the response. */
  awaitDrain(awaited: boolean, nowMs: number): void {
    this.#addUntil(nowMs);
    this.#awaitsDrain = awaited;
  }

  /** Adds the time until now. Call it at the end of the request; entries after it do not count. */
  close(nowMs: number): void {
    this.#addUntil(nowMs);
  }

  #addUntil(nowMs: number): void {
    const atUs = Math.round((nowMs - this.#startedMs) * 1000);
    const spentUs = atUs - this.#untilUs;
    if (spentUs <= 0) return;
    this.#untilUs = atUs;
    switch (this.#state) {
      case 'gateway':
        this.gatewayUs += spentUs;
        break;
      case 'upstream':
        if (this.#awaitsDrain) this.sendingUs += spentUs;
        else if (this.#awaitsUpload) this.receivingUs += spentUs;
        else this.upstreamUs += spentUs;
        break;
      case 'sending':
        this.sendingUs += spentUs;
        break;
      case 'receiving':
        this.receivingUs += spentUs;
        break;
      case 'key':
        this.keyUs += spentUs;
        break;
      case 'quota':
        this.quotaUs += spentUs;
        break;
      case 'connection':
        this.connectionUs += spentUs;
        break;
      case 'retry':
        this.retryUs += spentUs;
        break;
    }
  }
}
