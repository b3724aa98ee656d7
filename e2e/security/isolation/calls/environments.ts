import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Environments, and what concerns all of the gateway: the OpenAPI document and the data planes. */
export function environmentRows(
  { gateway }: World,
  { newName, newRouteName, remove, removeNamed }: FreshResources,
): ManagementRows {
  const { admin } = gateway;
  return {
    'GET /v1/openapi.json': {
      scopes: ['proxy'],
      status: 200,
      call: () => ({ path: '/v1/openapi.json' }),
    },
    'GET /v1/environments': {
      scopes: ['proxy'],
      status: 200,
      lists: 'production',
      call: () => ({ path: '/v1/environments?limit=200' }),
    },
    'POST /v1/environments': {
      scopes: ['config:write'],
      environments: 'all',
      status: 201,
      action: 'environment.created',
      call: () => ({ path: '/v1/environments', body: { name: newName('environment') } }),
    },
    'GET /v1/environments/{name}': {
      scopes: ['proxy'],
      status: 200,
      call: () => ({ path: '/v1/environments/production' }),
    },
    'DELETE /v1/environments/{name}': {
      scopes: ['config:write'],
      environments: 'all',
      status: 204,
      action: 'environment.deleted',
      call: async () => {
        const name = newName('environment');
        await admin.create('/v1/environments', { name });
        const path = `/v1/environments/${name}`;
        return { path, cleanUp: remove(path) };
      },
    },
    'POST /v1/environments/{name}/apply': {
      scopes: ['services:write', 'routes:write'],
      status: 200,
      action: ['route.created', 'service.created'],
      call: () => {
        const name = newName('service');
        const route = newRouteName();
        const body = {
          services: [{ name, url: gateway.upstream.url }],
          routes: [{ name: route, service: name }],
        };
        const removeRoute = removeNamed('/v1/routes', route);
        const cleanUp = () => removeRoute().then(removeNamed('/v1/services', name));
        return { path: '/v1/environments/production/apply', body, cleanUp };
      },
    },
    'GET /v1/environments/{name}/export': {
      scopes: ['services:read', 'routes:read'],
      status: 200,
      call: () => ({ path: '/v1/environments/production/export' }),
    },
    'GET /v1/data-planes': {
      // Every data plane serves all environments; the list shows only those that the caller covers.
      scopes: ['config:read'],
      status: 200,
      lists: 'production',
      call: () => ({ path: '/v1/data-planes' }),
    },
  };
}
