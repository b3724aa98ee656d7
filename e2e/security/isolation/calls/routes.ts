import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Routes, and what would happen to a request. */
export function routeRows(
  { serviceId, routeId }: World,
  { newRoute, newRouteName, removeNamed }: FreshResources,
): ManagementRows {
  return {
    'GET /v1/routes': {
      scopes: ['routes:read'],
      status: 200,
      lists: routeId,
      call: () => ({ path: '/v1/routes?limit=200' }),
    },
    'POST /v1/routes': {
      scopes: ['routes:write'],
      status: 201,
      action: 'route.created',
      call: () => {
        const name = newRouteName();
        const cleanUp = removeNamed('/v1/routes?environment=production', name);
        return { path: '/v1/routes', body: { name, service_id: serviceId }, cleanUp };
      },
    },
    'GET /v1/routes/{id}': {
      scopes: ['routes:read'],
      status: 200,
      call: () => ({ path: `/v1/routes/${routeId}` }),
    },
    'PATCH /v1/routes/{id}': {
      scopes: ['routes:write'],
      status: 200,
      action: 'route.updated',
      call: () => newRoute({ timeout_ms: 1234 }),
    },
    'PUT /v1/routes/{id}': {
      scopes: ['routes:write'],
      status: 201,
      action: 'route.created',
      call: () => {
        const name = newRouteName();
        const cleanUp = removeNamed('/v1/routes?environment=production', name);
        const path = `/v1/routes/${name}?environment=production`;
        return { path, body: { service_id: serviceId }, cleanUp };
      },
    },
    'DELETE /v1/routes/{id}': {
      scopes: ['routes:write'],
      status: 204,
      action: 'route.deleted',
      call: () => newRoute(),
    },
    'POST /v1/routes/{id}/explain': {
      scopes: ['config:read'],
      status: 200,
      call: () => ({ path: `/v1/routes/${routeId}/explain`, body: { anonymous: true } }),
    },
  };
}
