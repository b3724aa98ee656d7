interface Place<T> {
  value: T | undefined;
  /** How often the place was used. */
  uses: number;
}

/**
 * Pending values, each under an id that is never used again.
 *
 * A `Map` would do, but not for many short waits: when V8 makes a new table for it, the old table keeps its values and
 * the new table. Once one table has reached the old generation, everything that ever waited behind it survives until the
 * next full collection, and each young collection copies it.
 */
export class Tickets<T> {
  readonly #places: Place<T>[] = [];
  readonly #free: number[] = [];

  /** Keeps the value and returns its ticket. */
  add(value: T): string {
    const at = this.#free.pop() ?? this.#places.push({ value: undefined, uses: 0 }) - 1;
    const place = this.#places[at] as Place<T>;
    place.value = value;
    place.uses += 1;
    return `${at.toString(36)}-${place.uses.toString(36)}`;
  }

  get(ticket: string): T | undefined {
    return this.#placeOf(ticket)?.value;
  }

  /** Removes and returns the value; undefined if it was taken before. */
  take(ticket: string): T | undefined {
    const place = this.#placeOf(ticket);
    const value = place?.value;
    if (place === undefined || value === undefined) return undefined;
    place.value = undefined;
    this.#free.push(Number.parseInt(ticket, 36));
    return value;
  }

  /** Removes and returns all values. */
  takeAll(): T[] {
    const taken: T[] = [];
    for (const [at, place] of this.#places.entries()) {
      if (place.value === undefined) continue;
      taken.push(place.value);
      place.value = undefined;
      this.#free.push(at);
    }
    return taken;
  }

  #placeOf(ticket: string): Place<T> | undefined {
    const [at = '', uses = ''] = ticket.split('-');
    const place = this.#places[Number.parseInt(at, 36)];
    return place?.uses === Number.parseInt(uses, 36) ? place : undefined;
  }
}
