/**
 * The health of one upstream: an active part that follows from checks, and a passive part that follows from requests.
 * It only decides, and says why; `TrackedUpstream` runs the checks and timers and logs the changes. The passive part is
 * Envoy's outlier detection (consecutive gateway and local-origin failures, ejection time multiplied by the number of
 * ejections) with a half-open state.
 */

export type HealthName = 'unknown' | 'healthy' | 'unhealthy' | 'ejected' | 'half_open';

export type TransitionReason =
  | 'check_passed'
  | 'checks_failed'
  | 'consecutive_failures'
  | 'ejection_over'
  | 'request_succeeded'
  | 'request_failed';

export interface Transition {
  readonly from: HealthName;
  readonly to: HealthName;
  readonly reason: TransitionReason;
}

/**
 * What an attempt says about its upstream. `unreachable`: there was no connection, so a check would fail too. `bad`: the
 * upstream was reached and failed. `timed_out`: the same, but it may also hang. `nothing`: the attempt says nothing about
 * it.
 */
export type AttemptVerdict = 'good' | 'bad' | 'timed_out' | 'unreachable' | 'nothing';

export type CheckVerdict = Exclude<AttemptVerdict, 'timed_out' | 'nothing'>;

export interface Thresholds {
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

export const CONSECUTIVE_FAILURES = 5;
export const EJECTION_MS = 30_000;
/** The longest ejection lasts this many times as long as the first. */
export const MAX_EJECTION_FACTOR = 10;
/** After this long without an ejection, the next one counts as the first. */
export const EJECTIONS_FORGOTTEN_MS = 300_000;

export class UpstreamState {
  /** Whether it is healthy enough to get requests while other upstreams are healthy. */
  usable = true;
  /** Whether the last attempt or check got a connection. */
  reachable = true;

  #check: 'unknown' | 'passing' | 'failing' = 'unknown';
  #goodChecks = 0;
  #badChecks = 0;

  #phase: 'in' | 'ejected' | 'half_open' = 'in';
  #failures = 0;
  #ejections = 0;
  #ejectedUntilMs = 0;
  /** When the last ejection ended. */
  #returnedAtMs = -Infinity;
  /** Whether checks see the failures that it was ejected for, so that good checks end the ejection. */
  #checksSeeFailure = false;
  /** The number of the attempt that tries it while it is half open; 0 if there is none. */
  #probe = 0;
  #probes = 0;

  get name(): HealthName {
    if (this.#check === 'failing') return 'unhealthy';
    if (this.#phase !== 'in') return this.#phase;
    return this.#check === 'passing' ? 'healthy' : 'unknown';
  }

  /** Whether a good attempt would change nothing. */
  get hasNoDoubt(): boolean {
    return this.#failures === 0 && this.#phase === 'in' && this.reachable;
  }

  /** Whether failed requests have ejected it. A half-open upstream counts as ejected until a request has succeeded. */
  get ejected(): boolean {
    return this.#phase !== 'in';
  }

  /** When the ejection ends, by the monotonic clock; undefined if it is not ejected or already half open. */
  get ejectedUntilMs(): number | undefined {
    return this.#phase === 'ejected' ? this.#ejectedUntilMs : undefined;
  }

  /** The result of the last checks if it differs from the current health, but was not seen often enough yet. */
  get unsettled(): 'good' | 'bad' | undefined {
    if (this.#badChecks > 0 && this.#check !== 'failing') return 'bad';
    if (this.#goodChecks > 0 && (this.#check === 'failing' || this.#awaitsGoodChecks))
      return 'good';
    return undefined;
  }

  /** Whether so many requests in a row have failed that a check should follow soon. */
  get suspected(): boolean {
    return this.#failures >= CONSECUTIVE_FAILURES && this.#check !== 'failing';
  }

  /** An attempt begins. Returns its number if it tries a half-open upstream, otherwise 0. */
  begin(): number {
    if (this.#phase !== 'half_open' || this.#probe !== 0) return 0;
    this.#probes += 1;
    this.#probe = this.#probes;
    this.#updateUsable();
    return this.#probe;
  }

  /**
   * An attempt has ended. While the upstream is ejected or half open, only the attempt that tries it counts.
   *
   * @param probe the number that `begin` returned for the attempt
   * @param mayEject whether one more upstream of the service may be ejected
   */
  ended(
    verdict: AttemptVerdict,
    probe: number,
    mayEject: () => boolean,
    nowMs: number,
  ): Transition | undefined {
    if (verdict === 'good') this.reachable = true;
    else if (verdict === 'unreachable') this.reachable = false;
    if (this.#phase === 'in') return this.#endedWhileIn(verdict, mayEject, nowMs);
    if (verdict === 'unreachable') this.#checksSeeFailure = true;
    if (probe === 0 || probe !== this.#probe) return undefined;
    this.#probe = 0;
    if (verdict === 'good') return this.#readmit('request_succeeded', nowMs);
    if (verdict === 'nothing') this.#updateUsable();
    else return this.#eject('request_failed', verdict, nowMs);
    return undefined;
  }

  /** Time has passed. Ends the ejection if it is over. */
  elapsed(nowMs: number): Transition | undefined {
    if (this.#phase !== 'ejected' || nowMs < this.#ejectedUntilMs) return undefined;
    return this.#change('ejection_over', () => {
      this.#phase = 'half_open';
      this.#probe = 0;
    });
  }

  /** A check has ended. */
  checked(verdict: CheckVerdict, thresholds: Thresholds, nowMs: number): Transition | undefined {
    const good = verdict === 'good';
    this.reachable = verdict !== 'unreachable';
    this.#goodChecks = good ? this.#goodChecks + 1 : 0;
    this.#badChecks = good ? 0 : this.#badChecks + 1;
    if (good) return this.#checkPassed(thresholds, nowMs);
    // After a failed check, good checks show that the upstream has recovered.
    this.#checksSeeFailure = true;
    if (this.#check === 'failing' || this.#badChecks < thresholds.unhealthyThreshold) {
      return undefined;
    }
    return this.#change('checks_failed', () => (this.#check = 'failing'));
  }

  get #awaitsGoodChecks(): boolean {
    return this.#phase !== 'in' && this.#checksSeeFailure;
  }

  #checkPassed(thresholds: Thresholds, nowMs: number): Transition | undefined {
    const enough = this.#goodChecks >= thresholds.healthyThreshold;
    if (this.#check === 'failing' && !enough) return undefined;
    if (this.#check === 'passing' && !(enough && this.#awaitsGoodChecks)) return undefined;
    return this.#change('check_passed', () => {
      this.#check = 'passing';
      if (!enough || !this.#awaitsGoodChecks) return;
      // It was unreachable and returned. That is no reason for a longer ejection the next time.
      this.#ejections = 0;
      this.#endEjection(nowMs);
    });
  }

  #endedWhileIn(
    verdict: AttemptVerdict,
    mayEject: () => boolean,
    nowMs: number,
  ): Transition | undefined {
    if (verdict === 'nothing') return undefined;
    if (verdict === 'good') {
      this.#failures = 0;
      return undefined;
    }
    this.#failures += 1;
    if (this.#failures < CONSECUTIVE_FAILURES || !mayEject()) return undefined;
    return this.#eject('consecutive_failures', verdict, nowMs);
  }

  #eject(
    reason: TransitionReason,
    verdict: 'bad' | 'timed_out' | 'unreachable',
    nowMs: number,
  ): Transition | undefined {
    return this.#change(reason, () => {
      if (nowMs - this.#returnedAtMs > EJECTIONS_FORGOTTEN_MS && this.#phase === 'in') {
        this.#ejections = 0;
      }
      this.#ejections += 1;
      this.#phase = 'ejected';
      this.#ejectedUntilMs = nowMs + EJECTION_MS * Math.min(this.#ejections, MAX_EJECTION_FACTOR);
      this.#checksSeeFailure = verdict === 'unreachable';
      // Only checks after the ejection count.
      this.#goodChecks = 0;
    });
  }

  #readmit(reason: TransitionReason, nowMs: number): Transition | undefined {
    return this.#change(reason, () => this.#endEjection(nowMs));
  }

  #endEjection(nowMs: number): void {
    this.#phase = 'in';
    this.#probe = 0;
    this.#failures = 0;
    this.#returnedAtMs = nowMs;
  }

  #change(reason: TransitionReason, apply: () => void): Transition | undefined {
    const from = this.name;
    apply();
    this.#updateUsable();
    const to = this.name;
    return from === to ? undefined : { from, to, reason };
  }

  #updateUsable(): void {
    this.usable =
      this.#check !== 'failing' &&
      (this.#phase === 'in' || (this.#phase === 'half_open' && this.#probe === 0));
  }
}
