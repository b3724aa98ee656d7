import type { Clock, Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { CompiledUpstream, HealthCheckPolicy } from '../../routing-table/routing-table.ts';
import type { AttemptVerdict } from '../attempt-end.ts';
import { confirmBadMs, hangCheckMs, hangGapMs, nextCheckMs } from './check-pace.ts';
import type { CheckedItem, CheckSchedule } from './check-schedule.ts';
import type { CheckUpstream } from './check-upstream.ts';
import { mayEjectOne } from './ejection.ts';
import type { HealthMetrics } from './health-metrics.ts';
import type { ServiceBalancer } from './service-balancer.ts';
import type { HealthName, Transition, TransitionReason, UpstreamState } from './upstream-state.ts';

export interface TrackingOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: HealthMetrics;
  readonly schedule: CheckSchedule;
  readonly check: CheckUpstream;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** The health of an upstream has changed. */
  readonly onChange: () => void;
}

const RESULTS = { good: 'good', bad: 'bad', unreachable: 'bad', nothing: 'not_made' } as const;

/** Why the health of an upstream changed last. */
export interface HealthCause {
  /** Milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  readonly reason: TransitionReason;
  /** What the last request or check failed with. */
  readonly detail: string | undefined;
  /** How many requests or checks in a row failed; 0 if that was not the reason. */
  readonly failures: number;
}

/** An upstream of the newest configuration: its checks, its ejections, and the report of each change of its health. */
export class TrackedUpstream implements CheckedItem {
  readonly state: UpstreamState;
  /** Why its health is as it is; undefined before its first change. */
  why: HealthCause | undefined = undefined;
  #upstream: CompiledUpstream;
  #balancer: ServiceBalancer;
  #policy: HealthCheckPolicy;
  readonly #options: TrackingOptions;
  /** Cancels the check that is running. */
  #running: AbortController | undefined;
  /** Whether checks are to confirm that it hangs. */
  #hangSuspected = false;
  /** When it answered a request last, by the monotonic clock. */
  #answeredMs = -Infinity;
  #ejectionTimer: Timer | undefined;
  /** The end of the ejection that the timer is set for. */
  #ejectedUntilMs: number | undefined;

  constructor(
    upstream: CompiledUpstream,
    balancer: ServiceBalancer,
    state: UpstreamState,
    options: TrackingOptions,
  ) {
    this.#upstream = upstream;
    this.#balancer = balancer;
    this.#policy = balancer.service.healthCheck;
    this.state = state;
    this.#options = options;
  }

  get policy(): HealthCheckPolicy {
    return this.#policy;
  }

  /** Continues with a new configuration of the same address; counters and timers stay as they are. */
  replace(upstream: CompiledUpstream, balancer: ServiceBalancer): void {
    const policy = balancer.service.healthCheck;
    const before = this.#policy;
    if (isTighter(policy, before)) this.#running?.abort();
    this.#upstream = upstream;
    this.#balancer = balancer;
    this.#policy = policy;
    if (policy.intervalMs < before.intervalMs) {
      this.#options.schedule.hurry(this, policy.intervalMs);
    }
  }

  /** Checks the upstream now. */
  async check(): Promise<void> {
    const { check, metrics, clock } = this.#options;
    const running = new AbortController();
    this.#running = running;
    const { path, grpcService } = this.#policy;
    const asked = grpcService === undefined ? path : { grpcService };
    const timeoutMs = this.#checkTimeoutMs();
    const startedMs = clock.monotonicMs();
    const checking = check(this.#upstream, asked, timeoutMs, running.signal);
    const { verdict, detail } = await checking.finally(() => (this.#running = undefined));
    if (running.signal.aborted) return;
    if (verdict === 'good') {
      this.state.lastGoodCheckMs = clock.monotonicMs() - startedMs;
      this.#hangSuspected = false;
    }
    metrics.checks.inc({ result: RESULTS[verdict] });
    const change = this.state.checked(verdict, this.#policy, clock.monotonicMs());
    this.#changed(change, detail, this.state.failedChecks);
    if (RESULTS[verdict] === 'bad') this.#failsWith(detail);
    if (this.state.name === 'unhealthy') this.#hangSuspected = false;
  }

  /** Of an upstream that stays unhealthy the reason is what its checks fail with now: an operator may have mended the first. */
  #failsWith(detail: string): void {
    const { why } = this;
    const { name, failedChecks: failures } = this.state;
    if (name !== 'unhealthy' || why?.reason !== 'checks_failed' || why.detail === detail) return;
    this.why = { ...why, detail, failures };
  }

  nextDelayMs(): number {
    if (this.#hangSuspected) return this.#checkTimeoutMs();
    return nextCheckMs(this.#policy, this.state.unsettled, this.#options.random());
  }

  /**
   * Counts the end of an attempt at the upstream.
   *
   * @param probe the number that `UpstreamState.begin` returned for the attempt
   * @param detail what it failed with, for operators
   */
  attemptEnded(verdict: AttemptVerdict, probe: number, detail: string | undefined): void {
    const { clock, schedule } = this.#options;
    const { state } = this;
    const nowMs = clock.monotonicMs();
    const mayEject = () => mayEjectOne(this.#balancer.states);
    const failures = verdict === 'good' ? 0 : probe === 0 ? state.failures + 1 : 1;
    const counted = verdict === 'maybe_hung' ? 'nothing' : verdict;
    this.#changed(state.ended(counted, probe, mayEject, nowMs), detail, failures);
    if (verdict === 'timed_out' || verdict === 'maybe_hung') this.#suspectHang(nowMs);
    else if (verdict === 'good') this.#stopSuspecting(nowMs);
    if (state.suspected && verdict !== 'good') schedule.hurry(this, confirmBadMs(this.#policy));
  }

  /** It may be cold: its share of the requests rises from now on. */
  beginSlowStart(): void {
    this.#setSlowStart(this.#options.clock.monotonicMs());
  }

  /** Cancels the running check and the timer of an ejection. */
  stop(): void {
    this.#ejectionTimer?.cancel();
    this.#running?.abort();
  }

  /**
   * A hung upstream still accepts connections, and its requests time out late and one by one, so that five in a row take
   * long. Short checks find it sooner. A check that is running would wait for its longer timeout. If it answers other
   * requests meanwhile, it does not hang: the checks go on as they are, because each change cancels the one that runs.
   */
  #suspectHang(nowMs: number): void {
    if (this.#hangSuspected || this.state.name === 'unhealthy') return;
    const shortMs = hangCheckMs(this.#policy, this.state.lastGoodCheckMs);
    if (nowMs - this.#answeredMs < shortMs) return;
    this.#hangSuspected = true;
    if (this.#running === undefined) this.#options.schedule.hurry(this, hangGapMs(this.#policy));
    else this.#running.abort();
  }

  /** It answers, so a short check that is still running says nothing. */
  #stopSuspecting(nowMs: number): void {
    this.#answeredMs = nowMs;
    if (!this.#hangSuspected) return;
    this.#hangSuspected = false;
    this.#running?.abort();
  }

  #checkTimeoutMs(): number {
    return this.#hangSuspected
      ? hangCheckMs(this.#policy, this.state.lastGoodCheckMs)
      : this.#policy.timeoutMs;
  }

  #changed(change: Transition | undefined, detail: string | undefined, failures: number): void {
    this.#setEjectionTimer();
    if (change === undefined) return;
    const { metrics, log, onChange, clock } = this.#options;
    const { from, to, reason } = change;
    this.why = { sinceMs: clock.nowMs(), reason, detail, failures };
    if (isIn(to) !== isIn(from)) {
      if (isIn(to)) this.beginSlowStart();
      else this.#setSlowStart(undefined);
    }
    const { id, serviceId, region } = this.#upstream;
    metrics.transitions.inc({ to, reason });
    const fields = { upstream: id, service: serviceId, region, from, to, reason, detail };
    const worse = to === 'unhealthy' || to === 'ejected';
    log[worse ? 'warn' : 'info'](fields, 'upstream health changed');
    onChange();
  }

  #setSlowStart(sinceMs: number | undefined): void {
    this.state.slowStartSinceMs = sinceMs;
    this.#balancer.slowStartChanged();
  }

  #setEjectionTimer(): void {
    const { clock } = this.#options;
    const { ejectedUntilMs } = this.state;
    if (ejectedUntilMs === this.#ejectedUntilMs) return;
    this.#ejectedUntilMs = ejectedUntilMs;
    this.#ejectionTimer?.cancel();
    this.#ejectionTimer = undefined;
    if (ejectedUntilMs === undefined) return;
    this.#ejectionTimer = clock.setTimer(ejectedUntilMs - clock.monotonicMs(), () => {
      // If the timer ran early, the ejection is not over and the timer is set again.
      this.#ejectedUntilMs = undefined;
      this.#changed(this.state.elapsed(clock.monotonicMs()), undefined, 0);
    });
  }
}

/** Whether an upstream of this health gets its share of the requests. */
function isIn(name: HealthName): boolean {
  return name === 'healthy' || name === 'unknown';
}

/** Whether the result of a check under the old policy would come too late for the new one, or be of another question. */
function isTighter(policy: HealthCheckPolicy, old: HealthCheckPolicy): boolean {
  return (
    policy.timeoutMs < old.timeoutMs ||
    policy.path !== old.path ||
    policy.grpcService !== old.grpcService
  );
}
