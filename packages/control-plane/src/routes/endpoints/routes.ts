import { grantsScope } from '@gateway/shared/tokens/scopes';
import { requireRoute } from '../../access/access.ts';
import { hasTarget, namedServices, targetOf } from '../route-versions.ts';
import {
  changeRoute,
  MERGED_ROUTE_FIELDS,
  newSettings,
  routeSchemas,
  routeView,
  routeViewSchema,
  type Route,
  type RouteChange,
  type RouteSettings,
} from '../route.ts';
import { contradictionsIn } from '../route-rules.ts';
import { dropUnchanged } from '../../fields/round-trip.ts';
import { findRoute, routeNotFound } from '../store/routes.ts';
import { routeWith } from '../../configuration/row-change.ts';
import { changeRow, createRow } from '../../configuration/store/change-row.ts';
import { endpoint, type Call, type Endpoint } from '../../http/endpoint.ts';
import { etagOf, requireMatch } from '../../http/etag.ts';
import { invalidField, invalidRequest, parseInput, pathId } from '../../http/input.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { concerning, created, noContent, ok } from '../../http/reply.ts';
import { requireAllowedHosts, type HostRules, type UrlOfBody } from '../../hosts/allowed-hosts.ts';
import { originOf } from '../../http/change-origin.ts';
import { namedInBody, UNKNOWN_ENVIRONMENT } from '../../http/missing-reference.ts';
import { environmentOf, environmentOfNew, serviceField } from './route-target.ts';
import { listRoutesEndpoint } from './list-routes.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';

const PATH = '/v1/routes';

/** The environment of a route without a service. */
const ENVIRONMENT_FIELD = { path: 'environment', message: UNKNOWN_ENVIRONMENT };

const routeIdParameter = idParameter('rte', 'The id of the route.');

/** The endpoints of routes. `hosts` has the rules for the hosts of JWT key sets. */
export function routeEndpoints(deps: ResourceDeps, hosts: HostRules): Endpoint[] {
  const { db, newId } = deps;
  const schemas = routeSchemas(hosts.denied, hosts.reserved);

  async function existingRoute(id: string): Promise<Route> {
    const route = await findRoute(db, id);
    if (route === undefined) throw routeNotFound();
    return route;
  }

  const create = endpoint({
    method: 'POST',
    path: PATH,
    operationId: 'createRoute',
    tag: 'Routes',
    summary: 'Create a route',
    description:
      'Creates a route to an existing service, in the environment of that service, or one that answers itself, in the ' +
      'environment that it names. The route serves requests to `/v1/proxy/{name}` as soon as the data planes have the new ' +
      'configuration.',
    etag: true,
    scope: 'routes:write',
    answers: 'created',
    data: routeViewSchema,
    errors: ['name_conflict', 'match_conflict'],
    body: schemas.create,
    async handle(call) {
      const { token, body } = call;
      const settings = newSettings(body);
      const environment = await environmentOfNew(db, settings, token, body.environment);
      requireRoute(token, environment, settings.name);
      await requireAllowedHosts(urlsOf(body), hosts);
      const row = routeWith(settings, { id: newId('rte'), environment }, null);
      const write = () => createRow(db, originOf(deps, call), 'route', row);
      const route = await namedInBody('service_not_found', serviceField(settings), () =>
        namedInBody('environment_not_found', ENVIRONMENT_FIELD, write),
      );
      const reply = created(routeView(route), `${PATH}/${route.id}`, etagOf(route));
      return concerning([environment], reply);
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/{id}`,
    operationId: 'getRoute',
    tag: 'Routes',
    summary: 'Read a route',
    description: 'Returns one route.',
    params: { id: routeIdParameter },
    etag: true,
    scope: 'routes:read',
    answers: 'one',
    data: routeViewSchema,
    errors: ['route_not_found', 'resource_unreadable'],
    async handle({ token, params }) {
      const route = await existingRoute(routeId(params));
      requireRoute(token, route.environment, route.name);
      return ok(routeView(route), etagOf(route));
    },
  });

  const change = endpoint({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateRoute',
    tag: 'Routes',
    summary: 'Change a route',
    description:
      'Changes the fields that are in the body. Objects are merged (RFC 7396); lists, `auth`, `rewrite`, `respond` and ' +
      '`redirect` are replaced. A new target replaces the one that the route has. ' +
      'A route that tokens name keeps its name. ' +
      'A body may have all fields that GET shows: those that are unchanged do nothing.',
    params: { id: routeIdParameter },
    etag: true,
    scope: 'routes:write',
    answers: 'one',
    seenWith: ['routes:read'],
    data: routeViewSchema,
    errors: [
      'route_not_found',
      'name_conflict',
      'match_conflict',
      'in_use',
      'precondition_failed',
      'resource_unreadable',
    ],
    body: schemas.change,
    async prepare({ token, params, sent }) {
      const route = await existingRoute(routeId(params));
      requireRoute(token, route.environment, route.name);
      return edited({ token, sent }, route);
    },
    async handle(call) {
      const { token, params, body, ifMatch } = call;
      const id = routeId(params);
      const named = { ...targetOf(body), mirror: body.mirror };
      const namesAny = namedServices(named).length > 0;
      const environment = namesAny ? await environmentOf(db, named, token) : undefined;
      await requireAllowedHosts(urlsOf(body), hosts);
      const route = await namedInBody('service_not_found', serviceField(named), () =>
        changeRow(db, originOf(deps, call), 'route', id, (current) => {
          requireRoute(token, current.environment, current.name);
          requireMatch(ifMatch, current);
          if (environment !== undefined && environment !== current.environment) {
            const { path } = serviceField(named);
            throw invalidField(path, 'must be in the environment of the route');
          }
          // The row may have changed while the call waited. What it had before is then no longer unchanged.
          const changed = changeRoute(current, parseInput(schemas.change, edited(call, current)));
          if (!hasTarget(changed)) throw invalidField('service_id', 'is required');
          requireConsistent(changed);
          requireRoute(token, current.environment, changed.name);
          return routeWith(changed, current, current);
        }),
      );
      return concerning([route.environment], ok(routeView(route), etagOf(route)));
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'deleteRoute',
    tag: 'Routes',
    summary: 'Delete a route',
    description: 'Deletes a route. Requests to it are answered with 404 from then on.',
    params: { id: routeIdParameter },
    scope: 'routes:write',
    answers: 'none',
    errors: ['route_not_found', 'precondition_failed'],
    async handle(call) {
      const { token, params, ifMatch } = call;
      const origin = originOf(deps, call);
      const { environment } = await changeRow(db, origin, 'route', routeId(params), (current) => {
        requireRoute(token, current.environment, current.name);
        requireMatch(ifMatch, current);
        return null;
      });
      return concerning([environment], noContent());
    },
  });

  return [listRoutesEndpoint(deps), create, read, change, remove];
}

/** The body of a PATCH without what is as the route shows it. @throws GatewayError resource_unreadable */
function edited({ token, sent }: Pick<Call<unknown, unknown>, 'token' | 'sent'>, route: Route) {
  const shown = routeView(route);
  if (!grantsScope(token.scopes, 'routes:read')) return sent;
  return dropUnchanged(sent, shown, MERGED_ROUTE_FIELDS);
}

/** @throws GatewayError invalid_request if the fields of a changed route contradict each other */
function requireConsistent(route: RouteSettings): void {
  const problems = [...contradictionsIn(route)];
  if (problems.length === 0) return;
  throw invalidRequest(problems.map(({ path, message }) => ({ path: path.join('.'), message })));
}

/** The URLs in a body that the gateway itself fetches. */
export function urlsOf({ auth }: Pick<RouteChange, 'auth'>): UrlOfBody[] {
  return auth?.type === 'jwt' ? [{ path: 'auth.jwks_url', url: auth.jwks_url }] : [];
}

function routeId(params: Readonly<Record<string, string>>): string {
  return pathId(params, 'rte', routeNotFound);
}
