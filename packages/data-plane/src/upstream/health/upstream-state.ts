import type { CountedVerdict } from '../attempt-end.ts';
import { CONSECUTIVE_FAILURES, Ejection, type EjectionChange } from './ejection.ts';

export type HealthName = 'unknown' | 'healthy' | 'unhealthy' | 'ejected' | 'half_open';

export type TransitionReason = 'check_passed' | 'checks_failed' | EjectionChange;

/** The health that an upstream may have after a change for each reason. */
export const HEALTH_AFTER: Readonly<Record<TransitionReason, readonly HealthName[]>> = {
  // It may have been ejected while its checks failed.
  check_passed: ['healthy', 'ejected', 'half_open'],
  checks_failed: ['unhealthy'],
  consecutive_failures: ['ejected'],
  ejection_over: ['half_open'],
  request_succeeded: ['healthy', 'unknown'],
  request_failed: ['ejected'],
};

export interface Transition {
  readonly from: HealthName;
  readonly to: HealthName;
  readonly reason: TransitionReason;
}

/** `nothing`: it could not be checked, by a fault of this data plane. */
export type CheckVerdict = Exclude<CountedVerdict, 'timed_out'>;

/** The result of one check. */
export interface CheckResult {
  readonly verdict: CheckVerdict;
  /** The status, or the name of the failure in records. */
  readonly detail: string;
}

export interface Thresholds {
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

/**
 * The health of one upstream: an active part that follows from checks, and a passive part, its ejection, that follows
 * from requests. It only decides, and says why; `TrackedUpstream` runs the checks and timers and logs the changes.
 */
export class UpstreamState {
  /** Whether it is healthy enough to get requests while other upstreams are healthy. */
  usable = true;
  /** Whether the last attempt or check got a connection. */
  reachable = true;
  /** When its slow start began, by the monotonic clock; undefined: it may have its whole share. */
  slowStartSinceMs: number | undefined = undefined;
  /** How long its last good check took, ms. */
  lastGoodCheckMs: number | undefined = undefined;
  /** Whether checks alone have ended its ejection, and no request has succeeded since. */
  idle = false;

  #check: 'unknown' | 'passing' | 'failing' = 'unknown';
  #goodChecks = 0;
  #badChecks = 0;
  readonly #ejection = new Ejection();

  get name(): HealthName {
    if (this.#check === 'failing') return 'unhealthy';
    const { phase } = this.#ejection;
    if (phase !== 'none') return phase;
    return this.#check === 'passing' ? 'healthy' : 'unknown';
  }

  /** Whether a good attempt would change nothing. */
  get hasNoDoubt(): boolean {
    const { failures, isRemembered } = this.#ejection;
    return this.reachable && failures === 0 && !this.ejected && !isRemembered && !this.idle;
  }

  /** Whether failed requests have ejected it. A half-open upstream counts as ejected until a request has succeeded. */
  get ejected(): boolean {
    return this.#ejection.phase !== 'none';
  }

  /** When it becomes half open, by the monotonic clock; undefined if it is not ejected or already half open. */
  get ejectedUntilMs(): number | undefined {
    return this.#ejection.untilMs;
  }

  /** The result of the last checks if it differs from the current health, but was not seen often enough yet. */
  get unsettled(): 'good' | 'bad' | undefined {
    if (this.#badChecks > 0 && this.#check !== 'failing') return 'bad';
    if (this.#goodChecks > 0 && (this.#check === 'failing' || this.#ejection.awaitsChecks))
      return 'good';
    return undefined;
  }

  /** How many requests in a row have failed since the last success. */
  get failures(): number {
    return this.#ejection.failures;
  }

  /** How many checks in a row have failed. */
  get failedChecks(): number {
    return this.#badChecks;
  }

  /** Whether so many requests in a row have failed that a check should follow soon. */
  get suspected(): boolean {
    return this.#ejection.failures >= CONSECUTIVE_FAILURES && this.#check !== 'failing';
  }

  /** An attempt begins. Returns its number if it tries a half-open upstream, otherwise 0. */
  begin(): number {
    const probe = this.#ejection.begin();
    if (probe !== 0) this.usable = false;
    return probe;
  }

  /**
   * An attempt has ended. While the upstream is ejected or half open, only the attempt that tries it counts.
   *
   * @param probe the number that `begin` returned for the attempt
   * @param mayEject whether one more upstream of the service may be ejected
   */
  ended(
    verdict: CountedVerdict,
    probe: number,
    mayEject: () => boolean,
    nowMs: number,
  ): Transition | undefined {
    if (verdict !== 'nothing') this.idle = false;
    if (verdict === 'good') this.reachable = true;
    else if (verdict === 'unreachable') this.reachable = false;
    const from = this.name;
    const change = this.#ejection.attemptEnded(verdict, probe, mayEject, nowMs);
    // Only checks after the ejection began count.
    if (change !== undefined && change !== 'request_succeeded') this.#goodChecks = 0;
    return this.#changed(from, change);
  }

  /** Time has passed. Makes the upstream half open if its ejection is over. */
  elapsed(nowMs: number): Transition | undefined {
    const from = this.name;
    const change = this.#ejection.elapsed(nowMs);
    // Checks from before say nothing more than that the ejection lasted.
    if (change !== undefined) this.#goodChecks = 0;
    return this.#changed(from, change);
  }

  /** A check has ended. */
  checked(verdict: CheckVerdict, thresholds: Thresholds, nowMs: number): Transition | undefined {
    if (verdict === 'nothing') return undefined;
    const good = verdict === 'good';
    this.reachable = verdict !== 'unreachable';
    this.#goodChecks = good ? this.#goodChecks + 1 : 0;
    this.#badChecks = good ? 0 : this.#badChecks + 1;
    return good ? this.#checkPassed(thresholds, nowMs) : this.#checkFailed(thresholds);
  }

  #checkPassed(thresholds: Thresholds, nowMs: number): Transition | undefined {
    const enough = this.#goodChecks >= thresholds.healthyThreshold;
    if (this.#check === 'failing' && !enough) return undefined;
    const from = this.name;
    this.#check = 'passing';
    if (enough && this.#ejection.endedByChecks(nowMs)) this.idle = true;
    return this.#changed(from, 'check_passed');
  }

  #checkFailed(thresholds: Thresholds): Transition | undefined {
    this.#ejection.checkFailed();
    if (this.#badChecks < thresholds.unhealthyThreshold) return undefined;
    const from = this.name;
    this.#check = 'failing';
    return this.#changed(from, 'checks_failed');
  }

  #changed(from: HealthName, reason: TransitionReason | undefined): Transition | undefined {
    this.usable = this.#check !== 'failing' && this.#ejection.admits;
    const to = this.name;
    return reason === undefined || from === to ? undefined : { from, to, reason };
  }
}
