import type { CompiledService, CompiledUpstream } from '../../routing-table/routing-table.ts';
import { selectUpstream, type SelectionOptions } from '../select.ts';
import type { AttemptVerdict, UpstreamState } from './upstream-state.ts';

/** Takes what became of an attempt where that may change something. */
export type AttemptSink = (
  upstream: CompiledUpstream,
  state: UpstreamState,
  verdict: AttemptVerdict,
  probe: number,
) => void;

/** Gives each service its balancer. */
export interface ServiceBalancers {
  of(service: CompiledService): ServiceBalancer;
}

/**
 * Spreads the requests of one service over its upstreams, by what is in flight and what is known of
 * their health. Made once for each service of a configuration; the states in it outlive that.
 */
export class ServiceBalancer {
  readonly service: CompiledService;
  /** Of the service's upstreams, in their order. */
  readonly states: readonly UpstreamState[];
  readonly #selection: SelectionOptions<CompiledUpstream>;
  readonly #sink: AttemptSink;

  constructor(
    service: CompiledService,
    states: readonly UpstreamState[],
    selection: SelectionOptions<CompiledUpstream>,
    sink: AttemptSink,
  ) {
    this.service = service;
    this.states = states;
    this.#selection = selection;
    this.#sink = sink;
  }

  /**
   * The index of the upstream to send to; −1 where the service has none.
   *
   * @param regions the route's order of failover
   * @param tried indices that this request has tried
   */
  choose(regions: readonly string[], tried: ReadonlySet<number>): number {
    return selectUpstream(this.service.upstreams, this.states, regions, tried, this.#selection);
  }

  /** An attempt at the upstream begins; what this gives must be handed to `ended`. */
  begin(index: number): number {
    return this.states[index]?.begin() ?? 0;
  }

  ended(index: number, probe: number, verdict: AttemptVerdict): void {
    const state = this.states[index];
    const upstream = this.service.upstreams[index];
    if (state === undefined || upstream === undefined) return;
    if (verdict === 'good' && state.undoubted) return;
    this.#sink(upstream, state, verdict, probe);
  }

  /** Whether a healthy upstream is left beside those that were tried and this one. */
  hasOther(tried: ReadonlySet<number>, index: number): boolean {
    return this.states.some((state, at) => state.usable && at !== index && !tried.has(at));
  }

  /** How many upstreams are healthy, fail, and are not known. */
  count(): [number, number, number] {
    const counts: [number, number, number] = [0, 0, 0];
    for (const { name } of this.states) {
      counts[name === 'healthy' ? 0 : name === 'unknown' ? 2 : 1] += 1;
    }
    return counts;
  }
}
