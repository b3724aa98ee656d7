/** The result of a fault: one row of the table. */
export interface FaultRow {
  readonly fault: string;
  /** Duration of the fault, s; undefined if it has none. */
  readonly lastedSeconds: number | undefined;
  readonly requests: number;
  readonly failed: number;
  /** Requests with an idempotency key that got 503 idempotency_unavailable and were not sent. */
  readonly keysRefused: number;
  /** Requests that got a response but have no record. */
  readonly recordsLost: number;
  /** From the start of the repair until everything works again, s; undefined if there is no repair. */
  readonly recoverySeconds: number | undefined;
  /** Other measurements, in a few words. */
  readonly note?: string | undefined;
}

/** A row, and every expectation that failed. */
export interface FaultResult {
  readonly row: FaultRow;
  readonly problems: readonly string[];
}

/** One fault in a running system, which is repaired when the scenario ends. */
export interface Scenario<World> {
  /** Name of the row and of the test. */
  readonly fault: string;
  /** @param outageMs how long the fault lasts */
  run(world: World, outageMs: number): Promise<FaultResult>;
}

/** Faults that one system goes through in turn, because each is repaired. */
export interface FaultSuite<World extends { close(): Promise<void> }> {
  readonly name: string;
  /** @param outageMs passed to each scenario */
  open(outageMs: number): Promise<World>;
  readonly scenarios: readonly Scenario<World>[];
}

/** Collects failed expectations, so that one run shows all of them. */
export class Expectations {
  readonly problems: string[] = [];

  /** @param problem the message if it does not hold */
  hold(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem);
  }
}
