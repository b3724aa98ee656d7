/** What is to be undone at the end of a test, or when the preparation of a test fails. */
export class UndoList {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /**
   * Runs the steps once, the newest first, each after the one before has ended, and also if one fails.
   *
   * @throws the error of the first that failed
   */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Runs the steps if the work fails. @throws the error of the work */
  async orUndo<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.run().catch(() => undefined);
      throw error;
    }
  }
}
