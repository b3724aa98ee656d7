import type { Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { FixedWindowCounters } from '@gateway/shared/fixed-window';
import { createSearchQueue, type RunSearch } from '../http/search-queue.ts';

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
  readonly #queue: RunSearch;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#queue = createSearchQueue(MAX_TESTS_AT_ONCE, clock, 'connection tests');
  }

  /**
   * Counts a test of the token, and runs it when there is room for it.
   *
   * @param signal aborts if the caller leaves
   * @throws GatewayError rate_limit_exceeded; gateway_overloaded if it has waited for three seconds
   */
  async run<T>(tokenId: string, signal: AbortSignal, test: () => Promise<T>): Promise<T> {
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
    return this.#queue(signal, test);
  }
}
