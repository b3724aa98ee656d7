type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/** Header fields by their names in lower case, as `Headers` of the Fetch standard; of that as much as the client needs. */
export class LightHeaders implements Iterable<[string, string]> {
  readonly #values = new Map<string, string>();

  constructor(init: Init = {}) {
    const fields = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of fields as Iterable<readonly [string, string]>) {
      this.append(name, value);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  /** A field that is there already has both values, with a comma between them. */
  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  /** In the order of their names. */
  *entries(): Generator<[string, string], undefined> {
    yield* [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  [Symbol.iterator](): Generator<[string, string], undefined> {
    return this.entries();
  }
}
