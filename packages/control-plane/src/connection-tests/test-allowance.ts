import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { FixedWindowCounters } from '@gateway/shared/fixed-window';

/** Tests of a token in a minute. Each makes data planes connect to at most 64 addresses. */
export const MAX_TESTS_OF_TOKEN = 60;
/** Tests that run at the same time. */
export const MAX_TESTS_AT_ONCE = 8;
const WINDOW_MS = 60_000;
const MAX_TOKENS = 10_000;

/** Bounds how often data planes are asked to connect somewhere. */
export class TestAllowance {
  readonly #clock: Clock;
  readonly #counters = new FixedWindowCounters(MAX_TOKENS);
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a test of the token and runs it.
   *
   * @throws GatewayError rate_limit_exceeded, gateway_overloaded
   */
  async run<T>(tokenId: string, test: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_TESTS_AT_ONCE) {
      throw new GatewayError(
        'gateway_overloaded',
        `The control plane runs at most ${MAX_TESTS_AT_ONCE} connection tests at the same time.`,
        { headers: { 'retry-after': '1' } },
      );
    }
    const nowMs = this.#clock.nowMs();
    const { granted, resetSeconds } = this.#counters.take(
      tokenId,
      MAX_TESTS_OF_TOKEN,
      WINDOW_MS,
      nowMs,
    );
    if (!granted) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `A token may test connections ${MAX_TESTS_OF_TOKEN} times in a minute.`,
        { headers: { 'retry-after': String(resetSeconds) } },
      );
    }
    this.#running += 1;
    try {
      return await test();
    } finally {
      this.#running -= 1;
    }
  }
}
