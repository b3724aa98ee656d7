/** How many requests of all connections are handled in one turn of the event loop, which has other work too. */
const REQUESTS_A_TURN = 64;
/** How many of one connection are handled before those of the next one, while some wait. */
const REQUESTS_IN_A_ROW = 8;

/** A connection with requests that were read and not handled. */
interface WaitingConnection {
  /** Handles as many as it may take. */
  requestTurn(): void;
}

/** Spreads the requests that arrive at once over turns of the event loop, and lets connections take turns. */
export class RequestTurns {
  #left = REQUESTS_A_TURN;
  #maxInARow = REQUESTS_A_TURN;
  /** While there are any, nothing is left. */
  readonly #waiting = new Set<WaitingConnection>();
  #isScheduled = false;

  /** Returns how many requests a connection may handle now. It gets a turn for the others. */
  take(wanted: number, connection: WaitingConnection): number {
    const taken = Math.min(wanted, this.#left, this.#maxInARow);
    this.#left -= taken;
    if (taken < wanted) this.#waiting.add(connection);
    if (this.#left === 0) this.#schedule();
    return taken;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#next);
  }

  readonly #next = () => {
    this.#isScheduled = false;
    this.#left = REQUESTS_A_TURN;
    this.#maxInARow = REQUESTS_IN_A_ROW;
    // One that is added again while its turn lasts comes last.
    for (const connection of this.#waiting) {
      if (this.#left === 0) break;
      this.#waiting.delete(connection);
      connection.requestTurn();
    }
    this.#maxInARow = REQUESTS_A_TURN;
  };
}
