import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { environmentNotFound } from '../../environments/store/environments.ts';
import { serviceNotFound } from '../../services/store/services.ts';
import { violatedConstraint } from '../../store/failures.ts';
import type { RowKind } from '../row-change.ts';

/** The constraint of each kind by which a name is unique in its environment. */
export const NAME_KEY = { service: 'services_name_key', route: 'routes_name_key' } as const;

const VIOLATIONS: Readonly<Record<string, () => GatewayError>> = {
  [NAME_KEY.service]: () => nameTaken('service'),
  [NAME_KEY.route]: () => nameTaken('route'),
  // A service that was deleted meanwhile violates one of two foreign keys.
  routes_service_fkey: serviceNotFound,
  route_services_service_fkey: serviceNotFound,
  services_environment_fkey: environmentNotFound,
};

/** The error of a call whose rows violate a constraint; undefined: another error. */
export function violationError(error: unknown): GatewayError | undefined {
  return VIOLATIONS[violatedConstraint(error) ?? '']?.();
}

function nameTaken(kind: RowKind): GatewayError {
  return new GatewayError('name_conflict', `A ${kind} with this name exists in the environment.`, {
    details: [{ path: 'name', message: 'is taken' }],
  });
}
