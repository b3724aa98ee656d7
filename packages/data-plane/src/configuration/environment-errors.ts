import { messageOf } from '@gateway/shared/errors/message-of';
import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ConfigMetrics, RejectionReason } from './config-metrics.ts';

export interface EnvironmentErrorsOptions {
  readonly environment: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ConfigMetrics;
  /** The served version, for the log. */
  readonly version: () => number;
}

const LOG_EVERY_FAILURES = 20;
/** A NATS server that has just started, or changes its leader, does not serve every object at once. */
const BLOCKED_AFTER_MS = 3000;

/** Why the newest configuration of an environment is not served: kept, logged and counted. */
export class EnvironmentErrors {
  readonly #options: EnvironmentErrorsOptions;
  #current: string | undefined;
  #failingSinceMs: number | undefined;

  constructor(options: EnvironmentErrorsOptions) {
    this.#options = options;
  }

  /** undefined if the newest configuration is served. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Whether the next step has waited for 3 s for something that is not available. */
  get isBlocked(): boolean {
    if (this.#failingSinceMs === undefined) return false;
    return this.#options.clock.monotonicMs() - this.#failingSinceMs >= BLOCKED_AFTER_MS;
  }

  /** The newest configuration is served. */
  clear(): void {
    this.#current = undefined;
  }

  /** Another version is served. */
  unblock(): void {
    this.#failingSinceMs = undefined;
  }

  rejected(reason: RejectionReason, cause: unknown): void {
    const { environment, log, metrics, version } = this.#options;
    const detail = messageOf(cause);
    this.#current = `${environment}: ${reason}: ${detail}`;
    metrics.rejected.inc({ reason });
    const fields = { environment, reason, detail, served_version: version() };
    log.error(fields, 'configuration rejected');
  }

  snapshotRequested(): void {
    const { environment, clock, log, metrics, version } = this.#options;
    this.#failingSinceMs ??= clock.monotonicMs();
    metrics.gaps.inc();
    this.#current ??= `${environment}: gap: nothing that arrived follows version ${version()}`;
    log.warn({ environment, served_version: version() }, 'snapshot requested');
  }

  /** @param failures failed attempts for the same version before this one */
  downloadFailed(version: number, failures: number, cause: unknown): void {
    const { environment, clock, log, metrics } = this.#options;
    const reason = messageOf(cause);
    this.#current = `${environment}: download_failed: ${reason}`;
    this.#failingSinceMs ??= clock.monotonicMs();
    metrics.fetchFailures.inc();
    if (failures % LOG_EVERY_FAILURES > 0) return;
    log.warn({ environment, version, reason }, 'snapshot download failed; retrying');
  }

  /** The last-good file keeps its deltas until the next snapshot, which loses nothing. */
  deltasNotReplaced(cause: unknown): void {
    const { environment, log } = this.#options;
    log.info(
      { environment, reason: messageOf(cause) },
      'snapshot for the last-good file not downloaded; keeping its deltas',
    );
  }
}
