/**
 * What is known of one upstream's health: an active part, fed by checks, and a passive one, fed by what
 * became of requests. It decides and says why; timers, checks and logs are others' work.
 * Source: the passive part is Envoy's outlier detection
 * (consecutive gateway and local-origin failures, ejection times its count) with a half-open state.
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

/** `unreachable`: no connection, so a check would fail as well. `bad`: it was reached, and failed. */
export type AttemptVerdict = 'good' | 'bad' | 'unreachable' | 'nothing';

export type CheckVerdict = Exclude<AttemptVerdict, 'nothing'>;

export interface Thresholds {
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

export const CONSECUTIVE_FAILURES = 5;
export const EJECTION_MS = 30_000;
/** The longest ejection is this many times the first. */
export const MAX_EJECTION_FACTOR = 10;
/** After this long without an ejection the next one is the first again. */
export const EJECTIONS_FORGOTTEN_MS = 300_000;

export class UpstreamState {
  /** Whether requests go there while others are healthy as well. */
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
  /** When it was let in again the last time. */
  #backSinceMs = -Infinity;
  /** Whether what it was ejected for is what a check would see as well. */
  #checksCanTell = false;
  /** The attempt that tries it while it is half open; 0 where there is none. */
  #probe = 0;
  #probesMade = 0;

  get name(): HealthName {
    if (this.#check === 'failing') return 'unhealthy';
    if (this.#phase !== 'in') return this.#phase;
    return this.#check === 'passing' ? 'healthy' : 'unknown';
  }

  /** Whether a good attempt would say nothing new. */
  get undoubted(): boolean {
    return this.#failures === 0 && this.#phase === 'in' && this.reachable;
  }

  /** Whether traffic ended it for a while; half open counts until a request has succeeded. */
  get ejected(): boolean {
    return this.#phase !== 'in';
  }

  /** By the monotonic clock; undefined where it is not ejected, or half open already. */
  get ejectedUntilMs(): number | undefined {
    return this.#phase === 'ejected' ? this.#ejectedUntilMs : undefined;
  }

  /** Whether checks have begun to say something else than before, but not often enough. */
  get unsettled(): 'good' | 'bad' | undefined {
    if (this.#badChecks > 0 && this.#check !== 'failing') return 'bad';
    if (this.#goodChecks > 0 && (this.#check === 'failing' || this.#awaitsGoodChecks))
      return 'good';
    return undefined;
  }

  /** Whether so many requests in a row failed that a check should say what it sees. */
  get suspected(): boolean {
    return this.#failures >= CONSECUTIVE_FAILURES && this.#check !== 'failing';
  }

  /** An attempt begins. Gives the number of the one that tries a half-open upstream, 0 for any other. */
  begin(): number {
    if (this.#phase !== 'half_open' || this.#probe !== 0) return 0;
    this.#probesMade += 1;
    this.#probe = this.#probesMade;
    this.#judge();
    return this.#probe;
  }

  /**
   * An attempt ended. While the upstream is out, only the one that tries it says anything of it.
   *
   * @param probe what `begin` gave for it
   * @param mayEject whether the bound on ejected upstreams has room for one more
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
    if (verdict === 'unreachable') this.#checksCanTell = true;
    if (probe === 0 || probe !== this.#probe) return undefined;
    this.#probe = 0;
    if (verdict === 'good') return this.#letIn('request_succeeded', nowMs);
    if (verdict === 'nothing') this.#judge();
    else return this.#eject('request_failed', verdict, nowMs);
    return undefined;
  }

  /** Time has passed: an ejection may be over. */
  elapsed(nowMs: number): Transition | undefined {
    if (this.#phase !== 'ejected' || nowMs < this.#ejectedUntilMs) return undefined;
    return this.#change('ejection_over', () => {
      this.#phase = 'half_open';
      this.#probe = 0;
    });
  }

  /** A check ended. */
  checked(verdict: CheckVerdict, thresholds: Thresholds, nowMs: number): Transition | undefined {
    const good = verdict === 'good';
    this.reachable = verdict !== 'unreachable';
    this.#goodChecks = good ? this.#goodChecks + 1 : 0;
    this.#badChecks = good ? 0 : this.#badChecks + 1;
    if (good) return this.#checkPassed(thresholds, nowMs);
    // What comes after a failed check tells whether what ended traffic has ended.
    this.#checksCanTell = true;
    if (this.#check === 'failing' || this.#badChecks < thresholds.unhealthyThreshold) {
      return undefined;
    }
    return this.#change('checks_failed', () => (this.#check = 'failing'));
  }

  get #awaitsGoodChecks(): boolean {
    return this.#phase !== 'in' && this.#checksCanTell;
  }

  #checkPassed(thresholds: Thresholds, nowMs: number): Transition | undefined {
    const enough = this.#goodChecks >= thresholds.healthyThreshold;
    if (this.#check === 'failing' && !enough) return undefined;
    if (this.#check === 'passing' && !(enough && this.#awaitsGoodChecks)) return undefined;
    return this.#change('check_passed', () => {
      this.#check = 'passing';
      if (!enough || !this.#awaitsGoodChecks) return;
      // It was away and came back, which is no reason to keep it out longer the next time.
      this.#ejections = 0;
      this.#comeBack(nowMs);
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
    verdict: 'bad' | 'unreachable',
    nowMs: number,
  ): Transition | undefined {
    return this.#change(reason, () => {
      if (nowMs - this.#backSinceMs > EJECTIONS_FORGOTTEN_MS && this.#phase === 'in') {
        this.#ejections = 0;
      }
      this.#ejections += 1;
      this.#phase = 'ejected';
      this.#ejectedUntilMs = nowMs + EJECTION_MS * Math.min(this.#ejections, MAX_EJECTION_FACTOR);
      this.#checksCanTell = verdict === 'unreachable';
      // Only checks that follow say anything of what happened now.
      this.#goodChecks = 0;
    });
  }

  #letIn(reason: TransitionReason, nowMs: number): Transition | undefined {
    return this.#change(reason, () => this.#comeBack(nowMs));
  }

  #comeBack(nowMs: number): void {
    this.#phase = 'in';
    this.#probe = 0;
    this.#failures = 0;
    this.#backSinceMs = nowMs;
  }

  #change(reason: TransitionReason, apply: () => void): Transition | undefined {
    const from = this.name;
    apply();
    this.#judge();
    const to = this.name;
    return from === to ? undefined : { from, to, reason };
  }

  #judge(): void {
    this.usable =
      this.#check !== 'failing' &&
      (this.#phase === 'in' || (this.#phase === 'half_open' && this.#probe === 0));
  }
}
