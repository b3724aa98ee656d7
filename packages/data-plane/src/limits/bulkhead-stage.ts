import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { RequestContext } from '../request/context.ts';
import type { Stage } from '../request/stage.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import type { Bulkheads, BulkheadRefusal } from './bulkheads.ts';
import { tooMany, type OverloadRefusals, type SlotKind } from './overload-refusals.ts';

/** The adaptive limits, of which this stage only asks whether they are reached. */
export interface RoomOfServices {
  /** That of a service with `limits.adaptive`. */
  of(serviceId: string): { readonly limit: number; hasRoom(): boolean } | undefined;
}

export interface BulkheadStageOptions {
  readonly bulkheads: Bulkheads;
  readonly adaptiveLimits: RoomOfServices;
  readonly overloads: OverloadRefusals;
  readonly kind: SlotKind;
}

/**
 * Takes a slot of the data plane, of the route and of the service, until the request is over, unless the adaptive limit
 * of the service is reached. Runs after authorization, so that callers without access hold no slot, and before the
 * quota, so that a refusal spends none.
 */
export function createBulkhead(options: BulkheadStageOptions): Stage {
  const { bulkheads, adaptiveLimits, overloads } = options;
  return (ctx: RequestContext) => {
    const { route, version, table } = ctx;
    if (route === undefined || version === undefined) return undefined;
    const { service } = version;
    if (service.limits.adaptive) {
      const adaptive = adaptiveLimits.of(service.id);
      if (adaptive?.hasRoom() === false) {
        throw overloads.refuseForService(service, 'adaptive', adaptive.limit);
      }
    }
    const refusal = bulkheads.tryTake(ctx, route, service, table);
    if (refusal !== undefined) throw refusalError(refusal, route, service, options);
    return undefined;
  };
}

function refusalError(
  refusal: BulkheadRefusal,
  route: CompiledRoute,
  service: CompiledService,
  { overloads, kind }: BulkheadStageOptions,
): GatewayError {
  switch (refusal.of) {
    case 'service':
      return overloads.refuseForService(service, 'max_in_flight', refusal.max);
    case 'route':
      return overloads.refuseHere(
        `${kind}_of_route`,
        `The data plane is nearly full, and the route ${route.name} already has many ${kind} in flight.`,
      );
    case 'process':
      return overloads.refuseHere(kind, tooMany(kind));
  }
}
