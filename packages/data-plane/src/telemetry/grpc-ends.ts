import type { Registry } from 'prom-client';
import type { LiveNames } from './live-names.ts';
import { CountTable, type Sweep } from './tables.ts';

/** Calls of one route end with few of the 17 statuses. */
const ENDS = 4;

/** The gRPC statuses with which gRPC calls ended, by route. */
export class GrpcEnds {
  readonly #ends: CountTable;

  constructor(registry: Registry, maxRoutes: number) {
    this.#ends = new CountTable(
      registry,
      'gateway_grpc_responses_total',
      'gRPC calls that ended with a gRPC status, by route and status',
      ['environment', 'route', 'grpc_status'],
      maxRoutes * ENDS,
    );
  }

  /** @param labels environment and route; what follows them is not used */
  count([environment = '', route = '']: readonly string[], grpcStatus: number): void {
    this.#ends.at([environment, route, String(grpcStatus)]).count += 1;
  }

  /** Ends the series of routes that are not in the configuration any more. */
  sweep(live: LiveNames): Sweep {
    return this.#ends.sweep(live, ([environment = '', route = '']) =>
      live.hasRoute(environment, route),
    );
  }
}
