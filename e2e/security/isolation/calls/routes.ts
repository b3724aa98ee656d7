import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Routes, and what would happen to a request. */
export function routeRows(
  { serviceId, routeId }: World,
  { newRoute, newRouteName }: FreshResources,
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
      call: () => ({
        path: '/v1/routes',
        body: { name: newRouteName(), service_id: serviceId },
      }),
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
      call: () => ({
        path: `/v1/routes/${newRouteName()}?environment=production`,
        body: { service_id: serviceId },
      }),
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
