import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Services. */
export function serviceRows(
  { gateway, serviceId }: World,
  { newName, newService }: FreshResources,
): ManagementRows {
  return {
    'GET /v1/services': {
      scopes: ['services:read'],
      status: 200,
      lists: serviceId,
      call: () => ({ path: '/v1/services?limit=200' }),
    },
    'POST /v1/services': {
      scopes: ['services:write'],
      status: 201,
      action: 'service.created',
      call: () => {
        const name = newName('service');
        const body = { name, environment: 'production', url: gateway.upstream.url };
        return { path: '/v1/services', body };
      },
    },
    'GET /v1/services/{id}': {
      scopes: ['services:read'],
      status: 200,
      call: () => ({ path: `/v1/services/${serviceId}` }),
    },
    'GET /v1/services/{id}/health': {
      scopes: ['services:read'],
      status: 200,
      call: () => ({ path: `/v1/services/${serviceId}/health` }),
    },
    'POST /v1/connection-tests': {
      scopes: ['services:write'],
      status: 200,
      call: () => {
        const body = { environment: 'production', url: gateway.upstream.url };
        return { path: '/v1/connection-tests', body };
      },
    },
    'PATCH /v1/services/{id}': {
      scopes: ['services:write'],
      status: 200,
      action: 'service.updated',
      call: () => newService({ health_path: '/changed' }),
    },
    'PUT /v1/services/{id}': {
      scopes: ['services:write'],
      status: 201,
      action: 'service.created',
      call: () => {
        const name = newName('service');
        const path = `/v1/services/${name}?environment=production`;
        return { path, body: { url: gateway.upstream.url } };
      },
    },
    'DELETE /v1/services/{id}': {
      scopes: ['services:write'],
      status: 204,
      action: 'service.deleted',
      call: () => newService(),
    },
  };
}
