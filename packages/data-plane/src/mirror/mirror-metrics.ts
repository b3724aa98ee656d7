import { Instruments } from '@gateway/shared/telemetry/instruments';
import type { Registry } from 'prom-client';
import type { LiveNames } from '../telemetry/live-names.ts';
import { CountTable, DurationTable, observe, type Sweep } from '../telemetry/tables.ts';
import type { BodyDrop } from './mirrored-body.ts';
import type { MirrorResult } from './mirrored-request.ts';

/**
 * Why a request of the sample has no copy. `in_flight`: as many copies are under way as may be. `overload`: the data plane,
 * the service or the connections to its upstream are busy. `service`: the service, or its credential, cannot be used. `upgrade`: the request leaves HTTP.
 */
export type MirrorDrop = BodyDrop | 'in_flight' | 'overload' | 'service' | 'stopping' | 'upgrade';

/** Names in labels are those of the configuration. */
type Route = { readonly environment: string; readonly name: string };

const MAX_ROUTES = 5_000;
/** Copies of one route end in about this many ways. */
const ENDS = 8;

/** Metrics of copies, by route. They are apart from those of requests. */
export class MirrorMetrics {
  readonly #ended: CountTable;
  readonly #dropped: CountTable;
  readonly #seconds: DurationTable;

  constructor(registry: Registry, inFlight: () => number) {
    this.#ended = new CountTable(
      registry,
      'gateway_mirrored_requests_total',
      'Copies of requests that were sent to the mirror of their route, by route and result',
      ['environment', 'route', 'result'],
      MAX_ROUTES * ENDS,
    );
    this.#dropped = new CountTable(
      registry,
      'gateway_mirrored_requests_dropped_total',
      'Requests that should have been copied to the mirror of their route and were not, by route and reason',
      ['environment', 'route', 'reason'],
      MAX_ROUTES * ENDS,
    );
    this.#seconds = new DurationTable(
      registry,
      'gateway_mirrored_request_seconds',
      'Time from the start of a copy until the mirror began to respond or the copy failed, by route',
      ['environment', 'route'],
      MAX_ROUTES,
    );
    new Instruments(registry).observeGauge(
      'gateway_mirrored_requests_in_flight',
      'Copies of requests that are under way',
      inFlight,
    );
  }

  ended({ environment, name }: Route, result: MirrorResult, waitedMs: number): void {
    const text = typeof result === 'number' ? `${Math.floor(result / 100)}xx` : result;
    this.#ended.at([environment, name, text]).count += 1;
    observe(this.#seconds.at([environment, name]), waitedMs / 1000);
  }

  dropped({ environment, name }: Route, reason: MirrorDrop): void {
    this.#dropped.at([environment, name, reason]).count += 1;
  }

  /** Ends the series of routes that are not in the configuration any more. */
  *sweep(live: LiveNames): Sweep {
    const isLive = ([environment = '', route = '']: readonly string[]) =>
      live.hasRoute(environment, route);
    const swept = [
      yield* this.#ended.sweep(live, isLive),
      yield* this.#dropped.sweep(live, isLive),
      yield* this.#seconds.sweep(live, isLive),
    ];
    return swept.includes(true);
  }
}
