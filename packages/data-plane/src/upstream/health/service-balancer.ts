import type { CompiledService, CompiledUpstream } from '../../routing-table/routing-table.ts';
import {
  rankCandidates,
  selectUpstream,
  type CandidateGroup,
  type SelectionOptions,
} from '../select-upstream.ts';
import type { AttemptVerdict } from './attempt-verdict.ts';
import { hangCheckMs } from './check-pace.ts';
import { SlowStart } from './slow-start.ts';
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
