import { grantsScope } from '@gateway/shared/tokens/scopes';
import { z } from 'zod';
import { requireRoute } from '../../access/access.ts';
import { environmentNameField, routeNameField } from '@gateway/shared/definitions/fields';
import {
  READ_ONLY_ROUTE_FIELDS,
  replacedSettings,
  routeSchemas,
  routeView,
  routeViewSchema,
  settingsAfter,
} from '../route.ts';
import { hasService, namedServices } from '../route-versions.ts';
import { dropReadOnly } from '../../fields/round-trip.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { etagOf, requirePutMatch } from '../../http/etag.ts';
import { invalidField } from '../../http/input.ts';
import { nameParameter } from '../../http/path-parameters.ts';
import { concerning, created, ok } from '../../http/reply.ts';
import { findEnvironment } from '../../environments/store/environments.ts';
import { routeWith } from '../../configuration/row-change.ts';
import { putRow } from '../../configuration/store/change-row.ts';
import { listRoutes } from '../store/routes.ts';
import { requireAllowedHosts, type HostRules } from '../../hosts/allowed-hosts.ts';
import { originOf } from '../../http/change-origin.ts';
import { namedInBody, UNKNOWN_SERVICE } from '../../http/missing-reference.ts';
import {
  requireNameOf,
  targetEnvironment,
  targetName,
} from '../../services/endpoints/put-target.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { environmentOf, serviceField } from './route-target.ts';
import { urlsOf } from './routes.ts';

const PATH = '/v1/routes';

const query = z.strictObject({
  environment: environmentNameField.optional().meta({
    description: 'The environment of the route. It may be left out if the token covers only one.',
    examples: ['production'],
  }),
});

/** `PUT /v1/routes/{name}`: creates or replaces a route by its name. */
export function putRouteEndpoint(deps: ResourceDeps, hosts: HostRules): Endpoint {
  const { db, newId } = deps;

  return endpoint({
    method: 'PUT',
    path: `${PATH}/{id}`,
    operationId: 'putRoute',
    tag: 'Routes',
    summary: 'Create or replace a route by name',
    description:
      'Creates the route of this name, or replaces all its settings: a setting that is left out gets its default; only `locations` of a route that exists stays as it is. ' +
      'The same body again changes nothing. A body may have what GET shows. ' +
      '`If-None-Match: *` only creates, `If-Match` only replaces.',
    params: { id: nameParameter('The name of the route.', 'charges') },
    query,
    etag: true,
    scope: 'routes:write',
    answers: 'one or created',
    seenWith: ['routes:read'],
    data: routeViewSchema,
    errors: [
      'environment_not_found',
      'match_conflict',
      'precondition_failed',
      'resource_unreadable',
    ],
    body: routeSchemas(hosts.denied, hosts.reserved).replace,
    async prepare({ token, params, query: given, sent }) {
      const environment = targetEnvironment(given, token);
      const name = targetName(params, routeNameField, 'rte');
      requireRoute(token, environment, name);
      if (!grantsScope(token.scopes, 'routes:read')) return sent;
      const [current] = await listRoutes(db, {
        environments: undefined,
        names: undefined,
        environment,
        name,
        limit: 1,
      });
      return current === undefined
        ? sent
        : dropReadOnly(sent, routeView(current), READ_ONLY_ROUTE_FIELDS);
    },
    async handle(call) {
      const { token, params, body } = call;
      const environment = targetEnvironment(call.query, token);
      const name = targetName(params, routeNameField, 'rte');
      requireNameOf({ name, environment }, body);
      const settings = replacedSettings(name, body);
      await findEnvironment(db, environment);
      if (hasService(settings) && (await environmentOf(db, settings, token)) !== environment) {
        const path = namedServices(settings)[0]?.path ?? 'service_id';
        throw invalidField(path, `${UNKNOWN_SERVICE} in the environment ${environment}`);
      }
      await requireAllowedHosts(urlsOf(body), hosts);
      const put = () =>
        putRow(db, originOf(deps, call), 'route', { environment, name }, (current) => {
          requirePutMatch(call, current ?? undefined);
          const identity = current ?? { id: newId('rte'), environment };
          return routeWith(settingsAfter(settings, current), identity, current);
        });
      const field = serviceField(settings);
      const { row, isNew } = await namedInBody('service_not_found', field, put);
      const etag = etagOf(row);
      const reply = isNew
        ? created(routeView(row), `${PATH}/${row.id}`, etag)
        : ok(routeView(row), etag);
      return concerning([environment], reply);
    },
  });
}
