/** The part of what is left that one step may take, so that other connections can grow too. */
const MAX_SHARE = 1 / 8;
/** The part of all that connections may take when they begin. The rest is for those that use their windows up. */
const START_SHARE = 1 / 2;
/** Below this part of all, connections that have more than their share give it back. */
const SHORT_SHARE = 1 / 8;

/** What the windows of all connections of a process may be larger than FIRST_WINDOW, which every connection has. */
export class WindowBudget {
  readonly #total: number;
  #left: number;
  #holders = 0;

  constructor(bytes: number) {
    this.#total = this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** A connection begins. Returns what it gets of so much: less when much is taken. */
  begin(bytes: number): number {
    this.#holders += 1;
    const left = this.#left - this.#total * (1 - START_SHARE);
    return this.#take(Math.min(bytes, left * MAX_SHARE));
  }

  /** Takes at most so much. Returns how much it was. */
  take(bytes: number): number {
    return this.#take(Math.min(bytes, this.#left * MAX_SHARE));
  }

  #take(bytes: number): number {
    const taken = Math.max(0, Math.floor(bytes));
    this.#left -= taken;
    return taken;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }

  /** A connection has ended, and gives back what it has. */
  end(bytes: number): void {
    this.#holders -= 1;
    this.#left += bytes;
  }

  /** What each connection should have at most: everything, until little is left. */
  get share(): number {
    return this.#left < this.#total * SHORT_SHARE
      ? Math.floor(this.#total / this.#holders)
      : Infinity;
  }
}
