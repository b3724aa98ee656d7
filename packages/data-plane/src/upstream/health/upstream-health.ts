import type { Clock, Timer } from '@gateway/shared/clock';
import type { ReportedServiceHealth } from '@gateway/shared/heartbeats/heartbeat';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type { Replaced } from '../../routing-table/environment-editor.ts';
import type {
  CompiledService,
  CompiledUpstream,
  EnvironmentTable,
  HealthCheckPolicy,
  RoutingTable,
} from '../../routing-table/routing-table.ts';
import type { SelectionOptions } from '../select.ts';
import { confirmBadMs, firstCheckMs, nextCheckMs } from './check-pace.ts';
import { CheckSchedule, type CheckedItem } from './check-schedule.ts';
import type { CheckUpstream } from './check-upstream.ts';
import { createHealthMetrics, type HealthMetrics } from './health-metrics.ts';
import { ServiceBalancer, type ServiceBalancers } from './service-balancer.ts';
import { UpstreamState, type AttemptVerdict, type Transition } from './upstream-state.ts';

export interface UpstreamHealthOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly selection: SelectionOptions<CompiledUpstream>;
  readonly check: CheckUpstream;
  readonly maxParallelChecks: number;
  /** The health of some upstream has changed. */
  readonly onChange: () => void;
}

interface Tracked extends CheckedItem {
  upstream: CompiledUpstream;
  policy: HealthCheckPolicy;
  balancer: ServiceBalancer;
  readonly state: UpstreamState;
  /** Cuts the check short that is under way. */
  running: AbortController | undefined;
  ejectionTimer: Timer | undefined;
  ejectedUntilMs: number | undefined;
}

/**
 * The health of every upstream of every service, kept under the upstream's key: a new configuration
 * that leaves an address as it was leaves its counters and its timers as they were, too.
 */
export class UpstreamHealth implements ServiceBalancers {
  readonly #options: UpstreamHealthOptions;
  readonly #tracked = new Map<string, Tracked>();
  /** Service id → that of the newest configuration. */
  readonly #services = new Map<string, ServiceBalancer>();
  readonly #balancers = new WeakMap<CompiledService, ServiceBalancer>();
  readonly #schedule: CheckSchedule;
  readonly #metrics: HealthMetrics;
  #environments: ReadonlyMap<string, EnvironmentTable> = new Map();

  constructor(options: UpstreamHealthOptions) {
    this.#options = options;
    this.#schedule = new CheckSchedule({
      clock: options.clock,
      maxParallel: options.maxParallelChecks,
    });
    const tracked = this.#tracked;
    const services = this.#services;
    this.#metrics = createHealthMetrics(options.registry, {
      *upstreams() {
        for (const { state } of tracked.values()) yield state.name;
      },
      waitingChecks: () => this.#schedule.waiting,
      *services() {
        for (const [id, balancer] of services) yield [id, balancer.count()] as const;
      },
    });
  }

  /** The balancer of a service of the current configuration, or of one that a request still holds. */
  of(service: CompiledService): ServiceBalancer {
    return this.#balancers.get(service) ?? this.#balance(service);
  }

  /** Takes the upstreams of a new configuration: new ones are checked from now on, others no longer. */
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

  /** As `reconcile`, of a table in which these services alone are not what they were. */
  change(table: RoutingTable, services: readonly Replaced<CompiledService>[]): void {
    this.#environments = table.environments;
    const added: Tracked[] = [];
    for (const { after } of services) if (after !== undefined) this.#take(after, added);
    for (const { before, after } of services) {
      if (before !== undefined) this.#forget(before, after);
    }
    const { random } = this.#options.selection;
    for (const one of added) {
      this.#schedule.add(one, firstCheckMs(one.policy, added.length, random()));
    }
  }

  /** What to tell of each service; those of which all is well come last. */
  report(): Record<string, ReportedServiceHealth> {
    const report: Record<string, ReportedServiceHealth> = {};
    const well: [string, ReportedServiceHealth][] = [];
    for (const [id, balancer] of this.#services) {
      const counts = balancer.count();
      if (counts[0] === balancer.states.length) well.push([id, counts]);
      else report[id] = counts;
    }
    for (const [id, counts] of well) report[id] = counts;
    return report;
  }

  /** Ends the checks. */
  stop(): void {
    this.#schedule.stop();
    for (const { ejectionTimer, running } of this.#tracked.values()) {
      ejectionTimer?.cancel();
      running?.abort();
    }
  }

  #take(service: CompiledService, added: Tracked[]): void {
    const balancer = this.#balance(service);
    this.#services.set(service.id, balancer);
    service.upstreams.forEach((upstream, index) => {
      const state = balancer.states[index];
      const known = this.#tracked.get(upstream.key);
      if (known === undefined) {
        if (state !== undefined) added.push(this.#track(upstream, balancer, state));
        return;
      }
      const soonerMs = known.policy.intervalMs - service.healthCheck.intervalMs;
      if (isTighter(service.healthCheck, known.policy)) known.running?.abort();
      known.upstream = upstream;
      known.balancer = balancer;
      known.policy = service.healthCheck;
      if (soonerMs > 0) this.#schedule.hurry(known, service.healthCheck.intervalMs);
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
      tracked.running?.abort();
      tracked.ejectionTimer?.cancel();
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
      (upstream, state, verdict, probe) => {
        this.#attemptEnded(upstream, state, verdict, probe);
      },
    );
    this.#balancers.set(service, balancer);
    return balancer;
  }

  #track(upstream: CompiledUpstream, balancer: ServiceBalancer, state: UpstreamState): Tracked {
    const tracked: Tracked = {
      upstream,
      policy: balancer.service.healthCheck,
      balancer,
      state,
      running: undefined,
      ejectionTimer: undefined,
      ejectedUntilMs: undefined,
      check: () => this.#check(tracked),
      nextDelayMs: () =>
        nextCheckMs(tracked.policy, state.unsettled, this.#options.selection.random()),
    };
    this.#tracked.set(upstream.key, tracked);
    return tracked;
  }

  async #check(tracked: Tracked): Promise<void> {
    const { upstream, policy, state } = tracked;
    const running = new AbortController();
    tracked.running = running;
    const { path, timeoutMs } = policy;
    const result = await this.#options.check(upstream, path, timeoutMs, running.signal);
    tracked.running = undefined;
    if (running.signal.aborted) return;
    const { verdict, detail } = result;
    this.#metrics.checks.inc({ result: verdict === 'good' ? 'good' : 'bad' });
    const nowMs = this.#options.clock.monotonicMs();
    this.#changed(tracked, state.checked(verdict, tracked.policy, nowMs), detail);
  }

  #attemptEnded(
    upstream: CompiledUpstream,
    state: UpstreamState,
    verdict: AttemptVerdict,
    probe: number,
  ): void {
    const tracked = this.#tracked.get(upstream.key);
    // A request may have outlived its upstream.
    if (tracked?.state !== state) return;
    const nowMs = this.#options.clock.monotonicMs();
    const mayEject = () => hasRoom(tracked.balancer);
    this.#changed(tracked, state.ended(verdict, probe, mayEject, nowMs), undefined);
    if (state.suspected && verdict !== 'good') {
      this.#schedule.hurry(tracked, confirmBadMs(tracked.policy));
    }
  }

  #changed(tracked: Tracked, change: Transition | undefined, detail: string | undefined): void {
    this.#watchEjection(tracked);
    if (change === undefined) return;
    const { from, to, reason } = change;
    const { id, serviceId, region } = tracked.upstream;
    this.#metrics.transitions.inc({ to, reason });
    const line = { upstream: id, service: serviceId, region, from, to, reason, detail };
    const worse = to === 'unhealthy' || to === 'ejected';
    this.#options.log[worse ? 'warn' : 'info'](line, 'the health of an upstream changed');
    this.#options.onChange();
  }

  #watchEjection(tracked: Tracked): void {
    const { clock } = this.#options;
    const { ejectedUntilMs } = tracked.state;
    if (ejectedUntilMs === tracked.ejectedUntilMs) return;
    tracked.ejectedUntilMs = ejectedUntilMs;
    tracked.ejectionTimer?.cancel();
    tracked.ejectionTimer = undefined;
    if (ejectedUntilMs === undefined) return;
    const delayMs = ejectedUntilMs - clock.monotonicMs();
    tracked.ejectionTimer = clock.setTimer(delayMs, () => {
      // Set again, should the timer have run early.
      tracked.ejectedUntilMs = undefined;
      this.#changed(tracked, tracked.state.elapsed(clock.monotonicMs()), undefined);
    });
  }
}

/** Whether a check by the old policy could say what the new one asks for too late, or not at all. */
function isTighter(policy: HealthCheckPolicy, old: HealthCheckPolicy): boolean {
  return policy.timeoutMs < old.timeoutMs || policy.path !== old.path;
}

/** At most half of a service's upstreams are ejected at a time, over all regions. */
function hasRoom({ states }: ServiceBalancer): boolean {
  let ejected = 0;
  for (const state of states) if (state.ejected) ejected += 1;
  return ejected < Math.floor(states.length / 2);
}
