import { isDeepStrictEqual } from 'node:util';
import { isId } from '@gateway/shared/ids';
import { z } from 'zod';
import { limitOf, requireEnvironment, requireRoute } from '../domain/access.ts';
import { environmentNameField, idField, routeNameField } from '../domain/fields.ts';
import {
  changeRoute,
  routeChangeSchema,
  routeInputSchema,
  routeView,
  routeViewSchema,
  settingsOf,
} from '../domain/route.ts';
import type { Service } from '../domain/service.ts';
import {
  createRoute,
  deleteRoute,
  findRoute,
  listRoutes,
  routeNotFound,
  updateRoute,
} from '../store/routes.ts';
import { findService, serviceNotFound } from '../store/services.ts';
import { endpoint, type CallerToken, type Endpoint } from './endpoint.ts';
import { etagOf, requireMatch } from './etag.ts';
import { invalidField } from './input.ts';
import { cutPage, decodeCursor, idKey, listParameters } from './list-query.ts';
import { created, noContent, one, page } from './reply.ts';
import type { ResourceParts } from './resource-parts.ts';

const LIST = 'routes';
const PATH = '/v1/routes';

const query = z.strictObject({
  ...listParameters,
  environment: environmentNameField.optional(),
  service_id: idField.max(64).optional(),
  name: routeNameField.optional(),
});

/** The endpoints of routes. */
export function routeEndpoints({ db, clock, newId }: ResourceParts): Endpoint[] {
  const now = () => new Date(clock.nowMs());

  /** The service that a route shall name, proven to be within the token's reach. */
  async function serviceFor(id: string, token: CallerToken): Promise<Service> {
    const service = isId('svc', id) ? await findService(db, id) : undefined;
    if (service === undefined) throw serviceNotFound();
    requireEnvironment(token, service.environment);
    return service;
  }

  const list = endpoint({
    method: 'GET',
    path: PATH,
    summary: 'Lists the routes that the token covers, oldest first.',
    scope: 'routes:read',
    answers: 'page',
    data: routeViewSchema,
    errors: [],
    query,
    async handle({ token, query: { limit, cursor, environment, service_id, name } }) {
      const after = cursor === undefined ? undefined : decodeCursor(LIST, idKey('rte'), cursor);
      if (service_id !== undefined && !isId('svc', service_id)) return page([], null);
      const rows = await listRoutes(db, {
        environments: limitOf(token.environments),
        names: limitOf(token.routes),
        ...{ environment, serviceId: service_id, name, after },
        limit: limit + 1,
      });
      const cut = cutPage(rows, limit, LIST, (row) => row.id);
      return page(cut.rows.map(routeView), cut.nextCursor);
    },
  });

  const create = endpoint({
    method: 'POST',
    path: PATH,
    summary: 'Creates a named route to an existing service, in the environment of that service.',
    scope: 'routes:write',
    answers: 'created',
    data: routeViewSchema,
    errors: ['service_not_found', 'name_conflict'],
    body: routeInputSchema,
    async handle({ token, body }) {
      const { environment } = await serviceFor(body.service_id, token);
      requireRoute(token, environment, body.name);
      const route = await createRoute(db, { id: newId('rte'), environment, ...body }, now());
      return created(routeView(route), `${PATH}/${route.id}`, etagOf(route.revision));
    },
  });

  const read = endpoint({
    method: 'GET',
    path: `${PATH}/{id}`,
    summary: 'Reads a route.',
    scope: 'routes:read',
    answers: 'one',
    data: routeViewSchema,
    errors: ['route_not_found'],
    async handle({ token, params }) {
      const route = await findRoute(db, routeId(params));
      if (route === undefined) throw routeNotFound();
      requireRoute(token, route.environment, route.name);
      return one(routeView(route), etagOf(route.revision));
    },
  });

  const change = endpoint({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    summary: 'Changes a route; what is left out stays as it is. Takes `If-Match`.',
    scope: 'routes:write',
    answers: 'one',
    data: routeViewSchema,
    errors: ['route_not_found', 'service_not_found', 'name_conflict', 'precondition_failed'],
    body: routeChangeSchema,
    async handle({ token, params, body, ifMatch }) {
      const id = routeId(params);
      const service =
        body.service_id === undefined ? undefined : await serviceFor(body.service_id, token);
      const route = await updateRoute(db, id, now(), (current) => {
        requireRoute(token, current.environment, current.name);
        requireMatch(ifMatch, current.revision);
        if (service !== undefined && service.environment !== current.environment) {
          throw invalidField('service_id', 'must name a service of the environment of the route');
        }
        const changed = changeRoute(current, body);
        requireRoute(token, current.environment, changed.name);
        return isDeepStrictEqual(changed, settingsOf(current)) ? current : changed;
      });
      return one(routeView(route), etagOf(route.revision));
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    summary: 'Deletes a route. Takes `If-Match`.',
    scope: 'routes:write',
    answers: 'none',
    errors: ['route_not_found', 'precondition_failed'],
    async handle({ token, params, ifMatch }) {
      await deleteRoute(db, routeId(params), (current) => {
        requireRoute(token, current.environment, current.name);
        requireMatch(ifMatch, current.revision);
      });
      return noContent();
    },
  });

  return [list, create, read, change, remove];
}

/** What is no id of a route names none; it never reaches the database. */
function routeId(params: Readonly<Record<string, string>>): string {
  const id = params['id'] ?? '';
  if (!isId('rte', id)) throw routeNotFound();
  return id;
}
