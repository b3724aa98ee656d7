import { exampleId, routeNameField } from '@gateway/shared/definitions/fields';
import { storedRouteFields } from '@gateway/shared/definitions/route';
import { isId } from '@gateway/shared/ids';
import { z } from 'zod';
import { coveredNames, requireScopes } from '../../access/access.ts';
import { readableOnly } from '../../fields/unreadable.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import {
  cutPage,
  decodeCursor,
  environmentFilter,
  idKey,
  listParameters,
  searchParameter,
  textParameter,
} from '../../http/list-query.ts';
import { page } from '../../http/reply.ts';
import type { ResourceDeps } from '../../http/resource-deps.ts';
import { createSearchQueue } from '../../http/search-queue.ts';
import { routeView, routeViewSchema } from '../route.ts';
import { measureOf, positionSchema, routeOrderOf, routeOrderParameter } from '../route-order.ts';
import { listOrderedRoutes } from '../store/ordered-routes.ts';
import { listRoutes } from '../store/routes.ts';

const LIST = 'routes';

/** Lists by traffic add up the statistics of an hour. The other connections of the pool are for other calls. */
const MAX_BY_TRAFFIC = 2;

const query = z.strictObject({
  ...listParameters,
  environment: environmentFilter,
  service_id: textParameter()
    .max(64, { error: 'must be at most 64 characters' })
    .optional()
    .meta({ description: 'Only routes that use this service.', examples: [exampleId('svc')] }),
  name: routeNameField.optional().meta({
    description: 'Only routes of this name.',
    examples: ['charges'],
  }),
  search: searchParameter('route', 'charge'),
  status: storedRouteFields.status
    .unwrap()
    .optional()
    .meta({
      description: 'Only routes with this status.',
      examples: ['disabled'],
    }),
  order: routeOrderParameter,
});

/** `GET /v1/routes`. */
export function listRoutesEndpoint({ db, clock }: ResourceDeps): Endpoint {
  const runByTraffic = createSearchQueue(MAX_BY_TRAFFIC, clock);
  return endpoint({
    method: 'GET',
    path: '/v1/routes',
    operationId: 'listRoutes',
    tag: 'Routes',
    summary: 'List routes',
    description:
      'Lists the routes that the token covers, oldest first unless `order` says otherwise, without those that this release ' +
      'cannot read.',
    scope: 'routes:read',
    answers: 'page',
    data: routeViewSchema,
    errors: ['gateway_overloaded'],
    query,
    async handle({ token, signal, query: { limit, cursor, service_id, order: name, ...filters } }) {
      if (service_id !== undefined && !isId('svc', service_id)) return page([], null);
      const filter = {
        environments: coveredNames(token.environments),
        names: coveredNames(token.routes),
        ...filters,
        serviceId: service_id,
        limit: limit + 1,
      };
      if (name === undefined) {
        const after = cursor === undefined ? undefined : decodeCursor(LIST, idKey('rte'), cursor);
        const rows = await listRoutes(db, { ...filter, after });
        const cut = cutPage(rows, limit, LIST, (row) => row.id);
        return page(readableOnly(cut.rows, routeView), cut.nextCursor);
      }
      const order = routeOrderOf(name);
      const isByTraffic = measureOf(order) !== undefined;
      if (isByTraffic) requireScopes(token, ['requests:read']);
      const list = `${LIST} ${name}`;
      const after =
        cursor === undefined ? undefined : decodeCursor(list, positionSchema(order), cursor);
      const toMs = after?.toMs ?? clock.nowMs();
      const read = () => listOrderedRoutes(db, { ...filter, order, after, toMs });
      const rows = isByTraffic ? await runByTraffic(signal, read) : await read();
      const cut = cutPage(rows, limit, list, ({ route, key }) => [key, route.id, toMs]);
      const routes = cut.rows.map(({ route }) => route);
      return page(readableOnly(routes, routeView), cut.nextCursor);
    },
  });
}
