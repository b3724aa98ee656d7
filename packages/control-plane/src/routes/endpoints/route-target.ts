import { isId } from '@gateway/shared/ids';
import { requireEnvironment } from '../../access/access.ts';
import { hasService, namedServices, type NamingServices } from '../route-versions.ts';
import type { CallerToken } from '../../access/caller.ts';
import { invalidField } from '../../http/input.ts';
import { UNKNOWN_SERVICE } from '../../http/missing-reference.ts';
import { onlyEnvironment } from '../../services/endpoints/service-input.ts';
import { findServices } from '../../services/store/services.ts';
import type { Database } from '../../store/database.ts';

/**
 * The environment of a new route: that of the services that it names, which must exist, be covered by the token and belong
 * to one environment; without a service the one that is given, or the only one of the token. Foreign keys guarantee that
 * this is still true when the route is written.
 *
 * @param given in the body
 * @throws GatewayError authentication_failed; invalid_request, which names the field
 */
export async function environmentOfNew(
  db: Database,
  target: NamingServices,
  token: CallerToken,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) requireEnvironment(token, given);
  if (!hasService(target)) {
    const environment = given ?? onlyEnvironment(token);
    requireEnvironment(token, environment);
    return environment;
  }
  const environment = await environmentOf(db, target, token);
  if (given === undefined || given === environment) return environment;
  throw invalidField('environment', `must be that of the service, ${environment}`);
}

/**
 * The environment of the services that a route names, as above.
 *
 * @throws GatewayError authentication_failed; invalid_request, which names the field
 */
export async function environmentOf(
  db: Database,
  target: NamingServices,
  token: CallerToken,
): Promise<string> {
  const named = namedServices(target);
  const ids = named.map(({ id }) => id).filter((id) => isId('svc', id));
  const services = await findServices(db, ids);
  let environment: string | undefined;
  for (const { id, path } of named) {
    const service = services.get(id);
    if (service === undefined) throw invalidField(path, UNKNOWN_SERVICE);
    requireEnvironment(token, service.environment);
    environment ??= service.environment;
    if (service.environment !== environment) {
      throw invalidField(path, `${UNKNOWN_SERVICE} in the environment ${environment}`);
    }
  }
  if (environment === undefined) throw invalidField('service_id', 'is required');
  return environment;
}

/** The field that names the services of a route, for the error if one is deleted while the route is written. */
export function serviceField(route: NamingServices): { path: string; message: string } {
  if (route.versions !== null)
    return { path: 'versions', message: 'must name services that exist' };
  const path = route.service_id === null && route.mirror ? 'mirror.service_id' : 'service_id';
  return { path, message: UNKNOWN_SERVICE };
}
