import type { ClientRequest } from '@gateway/http/exchange';
import type { TimeAccount } from '../request/time-account.ts';

/**
 * The clock of the timeout of an attempt whose body streams. It stands while the gateway waits for the caller's body, and
 * costs nothing until the timer of the timeout has run once.
 */
export class StandingClock {
  readonly #times: TimeAccount;
  /** The time in `receiving` when the timer began. */
  #receivedUs: number;

  constructor(times: TimeAccount) {
    this.#times = times;
    this.#receivedUs = times.receivingUs;
  }

  /**
   * Call it when the timer has run. If the clock stood meanwhile, `goOn` is called with the milliseconds that are left:
   * now, or when the caller is not awaited any more.
   *
   * @returns whether there is time left
   */
  hasTimeLeft(nowMs: number, goOn: (leftMs: number) => void): boolean {
    const times = this.#times;
    const beforeUs = this.#receivedUs;
    this.#receivedUs = times.receivedUs(nowMs);
    const leftMs = (this.#receivedUs - beforeUs) / 1000;
    // A timer may run a little early.
    if (leftMs < 1) return false;
    if (!times.isReceiving) goOn(leftMs);
    else {
      times.whenReceived(() => {
        this.#receivedUs = times.receivingUs;
        goOn(leftMs);
      });
    }
    return true;
  }
}

/** That of an attempt with this request; undefined: it waits for no caller. */
export function standingClock(
  times: TimeAccount | undefined,
  { body }: Pick<ClientRequest, 'body'>,
): StandingClock | undefined {
  const isStreamed = body !== null && typeof body !== 'string' && !Buffer.isBuffer(body);
  return times && isStreamed ? new StandingClock(times) : undefined;
}
