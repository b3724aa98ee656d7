/** Where a proxy is started. */
export interface Site {
  /** Holds the configuration files and logs of the run; removed when the run ends. */
  readonly folder: string;
  /** Put before a command so that it runs on the measured core. */
  readonly launcher: readonly string[];
  readonly upstreamPort: number;
  /** Aborted when the run is interrupted or takes too long. */
  readonly signal: AbortSignal;
}
