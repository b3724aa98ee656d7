/** A member of a `ChurningSet`. */
export interface Member {
  /** Its place in the set, which only the set uses. */
  place: number;
}

/**
 * A set of objects that come and go all the time. A `Set` or a `Map` replaces its table every few of them, and a table
 * that has got into the old generation keeps every later one alive, with the members that it had, until the old
 * generation is collected (docs/adr/0050). Here a member leaves nothing behind. The order is undefined.
 */
export class ChurningSet<M extends Member> {
  readonly #members: M[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: M): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** Removes one that is in the set. */
  remove(member: M): void {
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[member.place] = last;
    last.place = member.place;
  }

  /** All of them now. */
  all(): M[] {
    return this.#members.slice();
  }

  /** The member with this number. From the last down to 0, none is left out if others are removed meanwhile. */
  at(index: number): M | undefined {
    return this.#members[index];
  }
}
