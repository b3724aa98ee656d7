/** What a load got done, and how long that took. */
export interface LoadOutcome {
  /** Requests, or what else the load counts, such as MiB or messages. */
  readonly units: number;
  readonly failed: number;
  readonly durationUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** A figure that only this load has. */
  readonly ownFigure?: number;
}
