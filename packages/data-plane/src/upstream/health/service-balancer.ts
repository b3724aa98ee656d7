import type { CompiledService, CompiledUpstream } from '../../routing-table/routing-table.ts';
import {
  rankCandidates,
  selectByScore,
  selectUpstream,
  type CandidateGroup,
  type SelectionOptions,
} from '../select-upstream.ts';
import type { AttemptVerdict } from '../attempt-end.ts';
import { hangCheckMs } from './check-pace.ts';
import type { HealthName, UpstreamState } from './upstream-state.ts';

/** Receives the verdict of each attempt that may change the health of its upstream. */
export type AttemptObserver = (
  upstream: CompiledUpstream,
  state: UpstreamState,
  verdict: AttemptVerdict,
  probe: number,
  detail: string | undefined,
) => void;

/** An upstream as the next attempt sees it. */
export interface UpstreamView {
  readonly upstream: CompiledUpstream;
  readonly health: HealthName;
  /** Its weight now: it rises during slow start. */
  readonly weight: number;
  readonly inFlight: number;
  /** The candidates of the lowest rank are those that are drawn among. */
  readonly rank: number;
  readonly group: CandidateGroup;
}

/** The balancers of all services. */
export interface ServiceBalancers {
  of(service: CompiledService): ServiceBalancer;
}

/**
 * Spreads the requests of one service over its upstreams by requests in flight and health. There is one for each service
 * of a configuration; the states in it outlive the configuration.
 */
export class ServiceBalancer {
  readonly service: CompiledService;
  /** In the order of the upstreams of the service. */
  readonly states: readonly UpstreamState[];
  readonly #selection: SelectionOptions<CompiledUpstream>;
  readonly #observer: AttemptObserver;
  readonly #slowStart: SlowStart<CompiledUpstream>;
  readonly #monotonicMs: () => number;

  constructor(
    service: CompiledService,
    states: readonly UpstreamState[],
    selection: SelectionOptions<CompiledUpstream>,
    observer: AttemptObserver,
    monotonicMs: () => number,
  ) {
    this.service = service;
    this.states = states;
    this.#selection = selection;
    this.#observer = observer;
    this.#monotonicMs = monotonicMs;
    this.#slowStart = new SlowStart(service.upstreams, states);
  }

  /**
   * Returns the index of the upstream for the next attempt, or −1 if the service has none.
   *
   * @param regions the failover order of the route
   * @param tried indices of the upstreams that this request has tried
   */
  choose(regions: readonly string[], tried: ReadonlySet<number>): number {
    const candidates = this.#slowStart.candidates(this.#monotonicMs);
    return selectUpstream(candidates, this.states, regions, tried, this.#selection);
  }

  /**
   * As `choose`, but of the best upstreams the one with the highest score. Requests in flight and slow start do not count,
   * so that it is the same on all data planes of a region.
   */
  chooseByScore(
    regions: readonly string[],
    tried: ReadonlySet<number>,
    scoreOf: (upstream: CompiledUpstream) => number,
  ): number {
    const { region } = this.#selection;
    return selectByScore(this.service.upstreams, this.states, regions, tried, region, scoreOf);
  }

  /** The upstreams as the first attempt of a request sees them, in the order of the service. Chooses none. */
  view(regions: readonly string[]): readonly UpstreamView[] {
    const { region, load } = this.#selection;
    const candidates = this.#slowStart.candidates(this.#monotonicMs);
    return rankCandidates(candidates, this.states, regions, region).map((ranked, index) => ({
      upstream: this.service.upstreams[index] as CompiledUpstream,
      health: this.states[index]?.name ?? 'unknown',
      weight: candidates[index]?.weight ?? 0,
      inFlight: load.inFlight(candidates[index] as CompiledUpstream),
      ...ranked,
    }));
  }

  /** One of the upstreams has entered or left slow start. */
  slowStartChanged(): void {
    this.#slowStart.changed();
  }

  /** An attempt at the upstream begins. Returns a number that `ended` needs. */
  begin(index: number): number {
    return this.states[index]?.begin() ?? 0;
  }

  /**
   * The attempt has ended.
   *
   * @param detail what it failed with, for operators
   */
  ended(index: number, probe: number, verdict: AttemptVerdict, detail?: string): void {
    const state = this.states[index];
    const upstream = this.service.upstreams[index];
    if (state === undefined || upstream === undefined) return;
    if (verdict === 'good' && state.hasNoDoubt) return;
    this.#observer(upstream, state, verdict, probe, detail);
  }

  /** How long a check waits for the upstream that is to confirm that it hangs, ms. */
  shortCheckMs(index: number): number {
    return hangCheckMs(this.service.healthCheck, this.states[index]?.lastGoodCheckMs);
  }

  /** Whether there is a healthy upstream other than this one and those that were tried. */
  hasOther(tried: ReadonlySet<number>, index: number): boolean {
    return this.states.some((state, at) => state.usable && at !== index && !tried.has(at));
  }

  /** The numbers of upstreams that are healthy, that fail, and whose health is unknown. */
  count(): [number, number, number] {
    const counts: [number, number, number] = [0, 0, 0];
    for (const { name } of this.states) {
      counts[name === 'healthy' ? 0 : name === 'unknown' ? 2 : 1] += 1;
    }
    return counts;
  }
}

/** How long the share of an upstream that returned or is new rises. */
export const SLOW_START_MS = 10_000;
/** The part of its weight that it has at the beginning, and so the least share that it gets. */
export const SLOW_START_MIN_PART = 0.1;
/** The weights change in steps of this length. A hundred steps are smooth enough, and few requests compute them. */
const STEP_MS = SLOW_START_MS / 100;

/**
 * The part of its weight that an upstream has this long after it returned: it rises in a straight line. Source: the
 * slow start of Envoy (with `aggression` 1 and its default `min_weight_percent`) and the `slowstart` of HAProxy.
 */
export function slowStartPart(sinceMs: number, nowMs: number): number {
  const passed = Math.max(0, nowMs - sinceMs) / SLOW_START_MS;
  return Math.min(1, Math.max(SLOW_START_MIN_PART, passed));
}

/** Whether the share of the upstream still rises. */
export function isInSlowStart({ slowStartSinceMs }: UpstreamState, nowMs: number): boolean {
  return slowStartSinceMs !== undefined && slowStartPart(slowStartSinceMs, nowMs) < 1;
}

/**
 * The candidates of one service with the weights that they have now. While none is in slow start, these are the
 * candidates themselves and nothing is computed.
 */
export class SlowStart<T extends { readonly weight: number }> {
  readonly #candidates: readonly T[];
  readonly #states: readonly UpstreamState[];
  #weighted: readonly T[];
  /** Until when the weights hold; undefined: none is in slow start. */
  #untilMs: number | undefined;

  /** @param states of the candidates, in their order */
  constructor(candidates: readonly T[], states: readonly UpstreamState[]) {
    this.#candidates = candidates;
    this.#weighted = candidates;
    this.#states = states;
    if (states.some(({ slowStartSinceMs }) => slowStartSinceMs !== undefined)) this.changed();
  }

  /** One of the states has entered or left slow start. */
  changed(): void {
    this.#untilMs = -Infinity;
  }

  /** The candidates with their weights of now. */
  candidates(monotonicMs: () => number): readonly T[] {
    if (this.#untilMs === undefined) return this.#candidates;
    const nowMs = monotonicMs();
    if (nowMs >= this.#untilMs) this.#weigh(nowMs);
    return this.#weighted;
  }

  #weigh(nowMs: number): void {
    const parts = this.#states.map(({ slowStartSinceMs }) => {
      return slowStartSinceMs === undefined ? 1 : slowStartPart(slowStartSinceMs, nowMs);
    });
    if (parts.every((part) => part === 1)) {
      this.#weighted = this.#candidates;
      this.#untilMs = undefined;
      return;
    }
    this.#weighted = this.#candidates.map((candidate, index) => {
      return { ...candidate, weight: candidate.weight * (parts[index] ?? 1) };
    });
    this.#untilMs = nowMs + STEP_MS;
  }
}
