import { GatewayError } from '@gateway/shared/errors/gateway-error';

/** The largest number of requests of one session, and of all sessions, that are sent at the same time. */
export const MAX_SENDS_OF_SESSION = 4;
export const MAX_SENDS = 16;

/** Bounds the requests that are being sent, and with them the memory of their bodies. */
export class SendSlots {
  readonly #ofSession = new Map<string, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Takes a slot.
   *
   * @param session distinguishes sessions
   * @returns the undo
   * @throws GatewayError rate_limit_exceeded, gateway_overloaded
   */
  take(session: string): () => void {
    const taken = this.#ofSession.get(session) ?? 0;
    if (taken >= MAX_SENDS_OF_SESSION) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `A session sends at most ${MAX_SENDS_OF_SESSION} requests at the same time.`,
        { headers: { 'retry-after': '1' } },
      );
    }
    if (this.#count >= MAX_SENDS) {
      throw new GatewayError(
        'gateway_overloaded',
        `The control plane sends at most ${MAX_SENDS} requests of the console at the same time.`,
        { headers: { 'retry-after': '1' } },
      );
    }
    this.#ofSession.set(session, taken + 1);
    this.#count += 1;
    return () => {
      this.#count -= 1;
      const left = (this.#ofSession.get(session) ?? 1) - 1;
      if (left === 0) this.#ofSession.delete(session);
      else this.#ofSession.set(session, left);
    };
  }
}
