/** What a fault did, as the table shows it. */
export interface FaultRow {
  readonly fault: string;
  /** How long the fault lasted, s; undefined where it is over at once. */
  readonly lastedSeconds: number | undefined;
  readonly requests: number;
  readonly failed: number;
  /** Requests with an idempotency key that were answered 503 idempotency_unavailable and not sent on. */
  readonly keysRefused: number;
  /** Answered requests of which no record came. */
  readonly recordsLost: number;
  /** From the beginning of the repair until everything was as before, s; undefined where there is none. */
  readonly recoverySeconds: number | undefined;
  /** What else was measured, in a few words. */
  readonly note?: string | undefined;
}

/** A row, and every expectation that did not hold. */
export interface FaultResult {
  readonly row: FaultRow;
  readonly problems: readonly string[];
}

/** One fault in a running system that takes it and is whole again when it ends. */
export interface Scenario<World> {
  /** Names the row, and the test. */
  readonly fault: string;
  /** @param outageMs how long what is stopped stays away */
  run(world: World, outageMs: number): Promise<FaultResult>;
}

/** Faults that one system after the other takes, as each is whole again afterwards. */
export interface FaultSuite<World extends { close(): Promise<void> }> {
  readonly name: string;
  /** @param outageMs as its scenarios get it */
  open(outageMs: number): Promise<World>;
  readonly scenarios: readonly Scenario<World>[];
}

/** Gathers what did not hold, so that one run shows all of it. */
export class Expectations {
  readonly problems: string[] = [];

  /** @param problem what is wrong where it does not hold */
  hold(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem);
  }
}
