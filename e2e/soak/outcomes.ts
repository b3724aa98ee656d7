/** The outcomes of all calls by kind, and every request id, each of which must have a record. */
export class Outcomes {
  readonly ids = new Set<string>();
  readonly #outcomes = new Map<string, Map<string, number>>();
  readonly #unexpected = new Map<string, number>();

  /**
   * Records the outcome of a call.
   *
   * @param outcome a status, or how the call ended without a response
   * @param expected whether this outcome is allowed for this kind of call
   */
  add(kind: string, outcome: string, expected: boolean, requestId?: string): void {
    const ofKind = this.#outcomes.get(kind) ?? new Map<string, number>();
    this.#outcomes.set(kind, ofKind);
    ofKind.set(outcome, (ofKind.get(outcome) ?? 0) + 1);
    if (requestId !== undefined) this.ids.add(requestId);
    if (expected) return;
    const name = `${kind}: ${outcome}`;
    this.#unexpected.set(name, (this.#unexpected.get(name) ?? 0) + 1);
  }

  /** Number of each outcome, by kind. */
  get outcomes(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#outcomes;
  }

  /** Unexpected outcomes, with their number. */
  get unexpected(): ReadonlyMap<string, number> {
    return this.#unexpected;
  }

  get calls(): number {
    let sum = 0;
    for (const ofKind of this.#outcomes.values()) {
      for (const count of ofKind.values()) sum += count;
    }
    return sum;
  }
}
