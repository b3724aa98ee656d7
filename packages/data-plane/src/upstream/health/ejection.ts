import type { CountedVerdict } from '../attempt-end.ts';

export const CONSECUTIVE_FAILURES = 5;
export const EJECTION_MS = 30_000;
/** The longest ejection lasts this many times as long as the first. */
export const MAX_EJECTION_FACTOR = 10;
/** A request that succeeds this long after an ejection makes the next one count as the first. */
export const EJECTIONS_FORGOTTEN_MS = 300_000;

/** Why an ejection has begun, become half open or ended. */
export type EjectionChange =
  | 'consecutive_failures'
  | 'ejection_over'
  | 'request_succeeded'
  | 'request_failed';

/**
 * Begins and ends the ejection of one upstream by the results of its requests. This is Envoy's outlier detection
 * (consecutive gateway and local-origin failures, ejection time multiplied by the number of ejections) with a half-open
 * phase: when the time is over, one request tries the upstream. If it succeeds, the ejection ends; if it fails, a longer
 * one begins. Good checks end it as well if no request tries the upstream, and before its time if checks have seen the
 * failure. They do not make the next one shorter: only requests that succeed do, so an upstream whose checks are good
 * while its requests fail gets fewer and fewer of them.
 */
export class Ejection {
  #phase: 'none' | 'ejected' | 'half_open' = 'none';
  #failures = 0;
  #ejections = 0;
  #untilMs = 0;
  /** When the last ejection ended. */
  #endedAtMs = -Infinity;
  #checksSeeFailure = false;
  /** The number of the attempt that tries the half-open upstream; 0 if there is none. */
  #probe = 0;
  #probes = 0;

  get phase(): 'none' | 'ejected' | 'half_open' {
    return this.#phase;
  }

  /** How many requests in a row have failed since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** When the upstream becomes half open, by the monotonic clock; undefined if it is not ejected or already half open. */
  get untilMs(): number | undefined {
    return this.#phase === 'ejected' ? this.#untilMs : undefined;
  }

  /** Whether the next attempt may go to the upstream: it is not ejected, or half open and not being tried. */
  get admits(): boolean {
    return this.#phase === 'none' || (this.#phase === 'half_open' && this.#probe === 0);
  }

  /** Whether good checks end the ejection: they see the failure that it began for, or its time is over. */
  get awaitsChecks(): boolean {
    if (this.#phase === 'none') return false;
    return this.#checksSeeFailure || (this.#phase === 'half_open' && this.#probe === 0);
  }

  /** Whether an earlier ejection makes the next one longer. */
  get isRemembered(): boolean {
    return this.#ejections > 0;
  }

  /** An attempt begins. Returns its number if it tries a half-open upstream, otherwise 0. */
  begin(): number {
    if (this.#phase !== 'half_open' || this.#probe !== 0) return 0;
    this.#probes += 1;
    this.#probe = this.#probes;
    return this.#probe;
  }

  /**
   * An attempt has ended. During an ejection only the attempt that tries the upstream counts.
   *
   * @param probe the number that `begin` returned for the attempt
   * @param mayEject whether one more upstream of the service may be ejected
   */
  attemptEnded(
    verdict: CountedVerdict,
    probe: number,
    mayEject: () => boolean,
    nowMs: number,
  ): EjectionChange | undefined {
    if (this.#phase === 'none') return this.#count(verdict, mayEject, nowMs);
    if (this.#checksWouldSee(verdict)) this.#checksSeeFailure = true;
    if (probe === 0 || probe !== this.#probe) return undefined;
    this.#probe = 0;
    if (verdict === 'nothing') return undefined;
    if (verdict !== 'good') return this.#eject('request_failed', verdict, nowMs);
    this.#end(nowMs);
    return 'request_succeeded';
  }

  /** A check has failed: from now on good checks show that the upstream has recovered. */
  checkFailed(): void {
    this.#checksSeeFailure = true;
  }

  /** Time has passed. The upstream becomes half open if its time is over. */
  elapsed(nowMs: number): EjectionChange | undefined {
    if (this.#phase !== 'ejected' || nowMs < this.#untilMs) return undefined;
    this.#phase = 'half_open';
    this.#probe = 0;
    return 'ejection_over';
  }

  /** Enough checks in a row were good. Returns whether that has ended the ejection. */
  endedByChecks(nowMs: number): boolean {
    if (!this.awaitsChecks) return false;
    this.#end(nowMs);
    return true;
  }

  #count(
    verdict: CountedVerdict,
    mayEject: () => boolean,
    nowMs: number,
  ): EjectionChange | undefined {
    if (verdict === 'nothing') return undefined;
    if (verdict === 'good') {
      this.#failures = 0;
      if (nowMs - this.#endedAtMs >= EJECTIONS_FORGOTTEN_MS) this.#ejections = 0;
      return undefined;
    }
    this.#failures += 1;
    if (this.#failures < CONSECUTIVE_FAILURES || !mayEject()) return undefined;
    return this.#eject('consecutive_failures', verdict, nowMs);
  }

  #eject(reason: EjectionChange, verdict: CountedVerdict, nowMs: number): EjectionChange {
    this.#ejections += 1;
    this.#phase = 'ejected';
    this.#untilMs = nowMs + EJECTION_MS * Math.min(this.#ejections, MAX_EJECTION_FACTOR);
    this.#checksSeeFailure = this.#checksWouldSee(verdict);
    return reason;
  }

  /**
   * Whether a check would probably fail like the request. After good checks had ended an ejection and requests failed
   * again, that is no longer probable.
   */
  #checksWouldSee(verdict: CountedVerdict): boolean {
    return verdict === 'unreachable' && this.#ejections === 1;
  }

  #end(nowMs: number): void {
    this.#phase = 'none';
    this.#probe = 0;
    this.#failures = 0;
    this.#endedAtMs = nowMs;
  }
}

/** At most half of a service's upstreams are ejected at one time, over all regions. */
export function mayEjectOne(upstreams: readonly { readonly ejected: boolean }[]): boolean {
  let ejected = 0;
  for (const upstream of upstreams) if (upstream.ejected) ejected += 1;
  return ejected < Math.floor(upstreams.length / 2);
}
