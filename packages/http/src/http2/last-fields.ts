import type { Clock } from '../clock.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { KEPT_MS, shareFields } from '../message/repeated-fields.ts';

/**
 * The fields of the last request of a connection. A request with the same fields gets the same list, so that what is
 * computed from the list is computed once (docs/adr/0084). Their strings are mostly the same objects already, those of
 * the table of the connection, so to compare them costs little.
 */
export class LastFields {
  readonly #clock: Clock;
  #fields: HeaderFields = [];
  #isShared = false;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the list of the last request if it is equal, otherwise the given one. */
  reuse(fields: HeaderFields): HeaderFields {
    const last = this.#fields;
    if (!areEqual(fields, last)) {
      this.#fields = fields;
      this.#isShared = false;
      this.#sinceMs = this.#clock.monotonicMs();
      return fields;
    }
    if (!this.#isShared) shareFields(last);
    this.#isShared = true;
    return last;
  }

  /** Called often. */
  check(nowMs: number): void {
    if (nowMs - this.#sinceMs >= KEPT_MS) this.#fields = [];
  }
}

function areEqual(a: HeaderFields, b: HeaderFields): boolean {
  if (a.length !== b.length) return false;
  // From the end: clients add what differs, such as a trace id, after what their libraries add.
  for (let index = a.length - 1; index >= 0; index -= 1) if (a[index] !== b[index]) return false;
  return true;
}
