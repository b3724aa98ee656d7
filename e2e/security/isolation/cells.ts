/** Counts what the matrix checks: an operation or request, a way to name something, a reach, and a state of the credential. */
export class Cells {
  readonly #name: string;
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(count: number): void {
    this.#count += count;
  }

  /** Call it when all is checked. */
  print(): void {
    process.stdout.write(`isolation: ${this.#count} cells of ${this.#name}\n`);
  }
}
