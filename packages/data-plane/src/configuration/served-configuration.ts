import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { ConfigMetrics, RefusalReason } from './config-metrics.ts';
import type { OfferedDelta, OfferedSnapshot } from './offered.ts';

export interface Served {
  readonly version: number;
  readonly source: 'nats' | 'file';
  /** ms since the Unix epoch. */
  readonly appliedAtMs: number;
}

/** What made the version that is served: the hash of a snapshot, the entry of the log, or both. */
interface Making {
  readonly sha256?: string;
  readonly entryId?: string | undefined;
}

export interface ServedOptions {
  readonly environment: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ConfigMetrics;
}

const LOG_EVERY_FAILURES = 20;

/** What is served of an environment, and why something newer is not: told to whoever looks after it. */
export class ServedConfiguration {
  readonly #options: ServedOptions;
  #served: (Served & Making) | undefined;
  #error: string | undefined;
  #isHeldUp = false;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  get current(): Served | undefined {
    return this.#served;
  }

  /** Why the newest news is not served; undefined where it is. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Whether what would lead on cannot be had now. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  /** @param isNewest whether nothing newer is known of */
  serves(version: number, making: Making, source: Served['source'], isNewest: boolean): void {
    const { environment, clock, log, metrics } = this.#options;
    this.#served = { ...making, version, source, appliedAtMs: clock.nowMs() };
    if (isNewest) this.#error = undefined;
    this.#isHeldUp = false;
    metrics.version.set({ environment }, version);
    log.info({ environment, version, source }, 'a configuration is served');
  }

  /** Notes that what is served is what NATS has, too. */
  confirm(isNewest: boolean): void {
    if (this.#served !== undefined) this.#served = { ...this.#served, source: 'nats' };
    if (isNewest) this.#error = undefined;
  }

  /** Whether the version that is served was made by this, or by what this repeats. */
  isMadeBy(offered: OfferedSnapshot | OfferedDelta): boolean {
    const { version, sha256, entryId } = this.#served ?? {};
    if (offered.version !== version) return false;
    if ('pointer' in offered && offered.pointer.sha256 === sha256) return true;
    return offered.entryId !== undefined && offered.entryId === entryId;
  }

  refuse(reason: RefusalReason, cause: unknown): void {
    const { environment, log, metrics } = this.#options;
    const why = reasonOf(cause);
    this.#error = `${environment}: ${reason}: ${why}`;
    metrics.refused.inc({ reason });
    const line = { environment, reason, why, served_version: this.#served?.version };
    log.error(line, 'a configuration was refused');
  }

  askedForSnapshot(): void {
    const { environment, log, metrics } = this.#options;
    const version = this.#served?.version;
    this.#isHeldUp = true;
    metrics.gaps.inc();
    this.#error ??= `${environment}: gap: what came does not lead on from version ${version ?? 0}`;
    log.warn({ environment, served_version: version }, 'a snapshot is asked for');
  }

  /** @param failures of the same version before this one */
  fetchFailed(version: number, failures: number, cause: unknown): void {
    const { environment, log, metrics } = this.#options;
    const why = reasonOf(cause);
    this.#error = `${environment}: fetch_failed: ${why}`;
    this.#isHeldUp = true;
    metrics.fetchFailures.inc();
    if (failures % LOG_EVERY_FAILURES > 0) return;
    log.warn({ environment, version, why }, 'a configuration cannot be fetched yet');
  }

  /** Nothing is lost by it, and the next one does as well. */
  notKept(cause: unknown): void {
    const { environment, log } = this.#options;
    log.info({ environment, why: reasonOf(cause) }, 'a snapshot to keep could not be had');
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
