import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { CompiledService } from '../routing-table/routing-table.ts';

/** A limit of a service; a label of the metric. */
export type ServiceLimit = 'max_in_flight' | 'max_connections' | 'max_pending' | 'adaptive';

/** Requests of the data path that have slots of their own. */
export type SlotKind = 'requests' | 'websockets';

/** Why the gateway itself refused a request; a label of the metric. The first are the kinds of slots. */
export const SHED_REASONS = [
  'requests',
  'websockets',
  'requests_of_route',
  'websockets_of_route',
  'pass_through',
  'pass_through_unauthenticated',
  'unauthenticated',
  'system_resources',
  'gateway_paused',
] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

/** Makes the refusals of requests above a limit. */
export interface OverloadRefusals {
  /** The refusal of a request whose service is at a limit. */
  refuseForService(service: CompiledService, limit: ServiceLimit, value: number): GatewayError;
  /** The refusal of a request that may not wait for a connection. It says how many of these there may be. */
  refuseForQueue(
    service: CompiledService,
    maxPending: number,
    maxConnections: number,
  ): GatewayError;
  /** The refusal of a request for which this data plane has no room. */
  refuseHere(reason: ShedReason, message: string): GatewayError;
}

/** Says that all slots of this kind are in use. */
export function tooMany(kind: SlotKind): string {
  return `Too many ${kind} are in flight.`;
}

const RETRY_AFTER = { 'retry-after': '1' };

/** Makes the refusals and counts nothing. */
export const UNCOUNTED_REFUSALS: OverloadRefusals = {
  refuseForService: (service, limit, value) =>
    overloaded(service, `its limit ${limit} of ${value} is reached`),
  refuseForQueue: (service, maxPending, maxConnections) =>
    overloaded(
      service,
      `its limit max_pending of ${maxPending} is reached, and its limit max_connections of ${maxConnections}`,
    ),
  refuseHere: (_reason, message) =>
    new GatewayError('gateway_overloaded', message, { headers: RETRY_AFTER }),
};

function overloaded({ name }: CompiledService, reason: string): GatewayError {
  return new GatewayError('upstream_overloaded', `The service ${name} is overloaded: ${reason}.`, {
    headers: RETRY_AFTER,
  });
}
