import type { Clock } from '@gateway/shared/clock';
import {
  MAX_UPSTREAM_STATES,
  type Heartbeat,
  type ReportedServiceHealth,
  type ReportedUpstreamReason,
} from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type {
  CompiledService,
  CompiledUpstream,
  EnvironmentTable,
  Replaced,
  RoutingTable,
} from '../../routing-table/routing-table.ts';
import type { SelectionOptions } from '../select-upstream.ts';
import { firstCheckMs } from './check-pace.ts';
import { CheckSchedule } from './check-schedule.ts';
import type { CheckUpstream } from './check-upstream.ts';
import { createHealthMetrics } from './health-metrics.ts';
import { ServiceBalancer, type ServiceBalancers, isInSlowStart } from './service-balancer.ts';
import { TrackedUpstream, type HealthCause, type TrackingOptions } from './tracked-upstream.ts';
import type { AttemptVerdict } from '../attempt-end.ts';
import { UpstreamState, type HealthName } from './upstream-state.ts';

export interface UpstreamHealthOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly selection: SelectionOptions<CompiledUpstream>;
  readonly check: CheckUpstream;
  readonly maxParallelChecks: number;
  /** The health of an upstream has changed. */
  readonly onChange: () => void;
}

/** What the heartbeat says of single upstreams. */
type UpstreamReport = Pick<Heartbeat, 'upstream_states' | 'upstream_reasons'>;

/** An upstream, its health, and whether it is idle. */
type Seen = readonly [upstream: CompiledUpstream, health: HealthName, idle: boolean];

const MAX_DETAIL_CHARS = 64;

/**
 * The health of every upstream of every service. It is kept under the key of the upstream, so the counters and timers
 * of an address outlive a new configuration.
 */
export class UpstreamHealth implements ServiceBalancers {
  readonly #options: UpstreamHealthOptions;
  readonly #tracked = new Map<string, TrackedUpstream>();
  /** By service id, of the newest configuration. */
  readonly #services = new Map<string, ServiceBalancer>();
  readonly #balancers = new WeakMap<CompiledService, ServiceBalancer>();
  readonly #schedule: CheckSchedule;
  readonly #tracking: TrackingOptions;
  #environments: ReadonlyMap<string, EnvironmentTable> = new Map();

  constructor(options: UpstreamHealthOptions) {
    this.#options = options;
    const { clock, log, registry, check, onChange, selection } = options;
    const schedule = new CheckSchedule({
      clock,
      maxParallel: options.maxParallelChecks,
      onFailed(err, isFirst) {
        metrics.checks.inc({ result: 'not_made' });
        if (isFirst) log.error({ err }, 'health check failed unexpectedly');
      },
    });
    const tracked = this.#tracked;
    const services = this.#services;
    const metrics = createHealthMetrics(registry, {
      *upstreams() {
        for (const { state } of tracked.values()) yield state.name;
      },
      inSlowStart: () => inSlowStart(tracked.values(), clock.monotonicMs()),
      waitingChecks: () => schedule.waiting,
      *services() {
        for (const [id, balancer] of services) yield [id, balancer.count()] as const;
      },
    });
    this.#schedule = schedule;
    this.#tracking = { clock, log, metrics, schedule, check, random: selection.random, onChange };
  }

  /** The balancer of a service of the current configuration, or of an older one that a request still uses. */
  of(service: CompiledService): ServiceBalancer {
    return this.#balancers.get(service) ?? this.#balance(service);
  }

  /** Follows a new configuration: starts checks of new upstreams and stops those of removed ones. */
  reconcile(table: RoutingTable): void {
    const before = this.#environments;
    const changes: Replaced<CompiledService>[] = [];
    for (const [name, environment] of table.environments) {
      const old = before.get(name);
      if (old === environment) continue;
      for (const [id, after] of environment.services) {
        const known = old?.services.get(id);
        if (known !== after) changes.push({ before: known, after });
      }
      for (const [id, known] of old?.services ?? []) {
        if (!environment.services.has(id)) changes.push({ before: known, after: undefined });
      }
    }
    this.change(table, changes);
  }

  /** Like `reconcile`, for a table in which only these services differ. */
  change(table: RoutingTable, services: readonly Replaced<CompiledService>[]): void {
    this.#environments = table.environments;
    const added: TrackedUpstream[] = [];
    for (const { before, after } of services) {
      if (after !== undefined) this.#track(after, before !== undefined, added);
    }
    for (const { before, after } of services) {
      if (before !== undefined) this.#forget(before, after);
    }
    const { random } = this.#options.selection;
    for (const one of added) {
      this.#schedule.add(one, firstCheckMs(one.policy, added.length, random()));
    }
  }

  /** The health of each service for the heartbeat; services with healthy upstreams only come last. */
  report(): Record<string, ReportedServiceHealth> {
    const report: Record<string, ReportedServiceHealth> = {};
    const healthy: [string, ReportedServiceHealth][] = [];
    for (const [id, balancer] of this.#services) {
      const counts = balancer.count();
      if (counts[0] === balancer.states.length) healthy.push([id, counts]);
      else report[id] = counts;
    }
    for (const [id, counts] of healthy) report[id] = counts;
    return report;
  }

  /** The upstreams that are not healthy or idle, and why, for the heartbeat; failing ones first. */
  reportUpstreams(): UpstreamReport {
    const failing: Seen[] = [];
    const others: Seen[] = [];
    for (const { service, states } of this.#services.values()) {
      for (const [index, state] of states.entries()) {
        const upstream = service.upstreams[index];
        const { name, idle } = state;
        if (upstream === undefined || (name === 'healthy' && !idle)) continue;
        const isFailing = name !== 'healthy' && name !== 'unknown';
        (isFailing ? failing : others).push([upstream, name, idle && !isFailing]);
        if (failing.length === MAX_UPSTREAM_STATES) return this.#report(failing);
      }
    }
    return this.#report([...failing, ...others].slice(0, MAX_UPSTREAM_STATES));
  }

  #report(seen: readonly Seen[]): UpstreamReport {
    return {
      upstream_states: seen.flatMap(([{ id }, name]) => (name === 'healthy' ? [] : [[id, name]])),
      upstream_reasons: seen.flatMap(([{ id, key }, , idle]) => {
        const why = this.#tracked.get(key)?.why;
        return why === undefined ? [] : [reportedReason(id, why, idle)];
      }),
    };
  }

  /** Stops the checks. */
  stop(): void {
    this.#schedule.stop();
    for (const tracked of this.#tracked.values()) tracked.stop();
  }

  /** @param running whether the service had upstreams before, so that a new one enters slow start */
  #track(service: CompiledService, running: boolean, added: TrackedUpstream[]): void {
    const balancer = this.#balance(service);
    this.#services.set(service.id, balancer);
    service.upstreams.forEach((upstream, index) => {
      const state = balancer.states[index];
      const known = this.#tracked.get(upstream.key);
      if (known !== undefined) known.replace(upstream, balancer);
      else if (state !== undefined) {
        const tracked = new TrackedUpstream(upstream, balancer, state, this.#tracking);
        this.#tracked.set(upstream.key, tracked);
        added.push(tracked);
        if (running) tracked.beginSlowStart();
      }
    });
  }

  #forget(service: CompiledService, next: CompiledService | undefined): void {
    const kept = new Set(next?.upstreams.map(({ key }) => key));
    if (next === undefined) this.#services.delete(service.id);
    for (const { key } of service.upstreams) {
      const tracked = kept.has(key) ? undefined : this.#tracked.get(key);
      if (tracked === undefined) continue;
      this.#tracked.delete(key);
      this.#schedule.remove(tracked);
      tracked.stop();
    }
  }

  #balance(service: CompiledService): ServiceBalancer {
    const states = service.upstreams.map(
      ({ key }) => this.#tracked.get(key)?.state ?? new UpstreamState(),
    );
    const balancer = new ServiceBalancer(
      service,
      states,
      this.#options.selection,
      (upstream, state, verdict, probe, detail) => {
        this.#attemptEnded(upstream, state, verdict, probe, detail);
      },
      () => this.#options.clock.monotonicMs(),
    );
    this.#balancers.set(service, balancer);
    return balancer;
  }

  #attemptEnded(
    upstream: CompiledUpstream,
    state: UpstreamState,
    verdict: AttemptVerdict,
    probe: number,
    detail: string | undefined,
  ): void {
    const tracked = this.#tracked.get(upstream.key);
    // If the configuration has removed the upstream since the request began, there is nothing to count.
    if (tracked?.state === state) tracked.attemptEnded(verdict, probe, detail);
  }
}

function reportedReason(
  id: string,
  { sinceMs, reason, detail, failures }: HealthCause,
  idle: boolean,
): ReportedUpstreamReason {
  return {
    id,
    since_ms: sinceMs,
    reason: idle ? 'idle' : reason,
    ...(detail !== undefined && { detail: detail.slice(0, MAX_DETAIL_CHARS) }),
    ...(failures > 0 && { failures }),
  };
}

function inSlowStart(tracked: Iterable<TrackedUpstream>, nowMs: number): number {
  let count = 0;
  for (const { state } of tracked) if (isInSlowStart(state, nowMs)) count += 1;
  return count;
}
