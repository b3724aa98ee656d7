import type { Scope } from '@gateway/shared/tokens/scopes';
import { freshResources, type ManagementCall, type World } from './fresh-resources.ts';

export interface ManagementRow {
  /** The scopes of the caller with exactly the required rights. */
  readonly scopes: readonly Scope[];
  /** Undefined: `production`. */
  readonly environments?: 'all';
  readonly status: number;
  /** Of a list: the resource that it must contain, or must not. */
  readonly lists?: string;
  /** `all`: the endpoint requires all routes. */
  readonly routes?: 'all';
  /** The actions of a change in the audit events, in alphabetical order. */
  readonly action?: string | readonly string[];
  readonly call: () => Promise<ManagementCall> | ManagementCall;
}

/** How to call each endpoint, by its method and path in the OpenAPI document. */
export function managementRows(world: World): Readonly<Record<string, ManagementRow>> {
  const { gateway, serviceId, routeId, tokenId, requestId } = world;
  const { admin } = gateway;
  const resources = freshResources(world);
  const { reach, newName, newService, newRoute, newToken, remove, removeNamed } = resources;
  const { newestVersion, twoVersions } = resources;

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
    'GET /v1/whoami': {
      scopes: ['proxy'],
      status: 200,
      call: () => ({ path: '/v1/whoami' }),
    },
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
        return { path: '/v1/services', body, cleanUp: removeNamed('/v1/services', name) };
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
        const cleanUp = removeNamed('/v1/services', name);
        return { path, body: { url: gateway.upstream.url }, cleanUp };
      },
    },
    'DELETE /v1/services/{id}': {
      scopes: ['services:write'],
      status: 204,
      action: 'service.deleted',
      call: () => newService(),
    },
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
        body: { name: 'fresh', service_id: serviceId },
        cleanUp: removeNamed('/v1/routes?environment=production', 'fresh'),
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
        path: '/v1/routes/fresh?environment=production',
        body: { service_id: serviceId },
        cleanUp: removeNamed('/v1/routes?environment=production', 'fresh'),
      }),
    },
    'DELETE /v1/routes/{id}': {
      scopes: ['routes:write'],
      status: 204,
      action: 'route.deleted',
      call: () => newRoute(),
    },
    'GET /v1/tokens': {
      scopes: ['tokens:read', 'proxy'],
      status: 200,
      lists: tokenId,
      call: () => ({ path: '/v1/tokens?limit=200' }),
    },
    'POST /v1/tokens': {
      scopes: ['tokens:write', 'proxy'],
      status: 201,
      action: 'token.created',
      call: () => {
        const name = newName('token');
        const cleanUp = removeNamed('/v1/tokens', name);
        return { path: '/v1/tokens', body: { name, ...reach }, cleanUp };
      },
    },
    'GET /v1/tokens/{id}': {
      scopes: ['tokens:read', 'proxy'],
      status: 200,
      call: () => ({ path: `/v1/tokens/${tokenId}` }),
    },
    'PATCH /v1/tokens/{id}': {
      scopes: ['tokens:write', 'proxy'],
      status: 200,
      action: 'token.updated',
      call: () => newToken('', { name: newName('renamed') }),
    },
    'DELETE /v1/tokens/{id}': {
      scopes: ['tokens:write', 'proxy'],
      status: 204,
      action: 'token.revoked',
      call: () => newToken(),
    },
    'POST /v1/tokens/{id}/rotate': {
      scopes: ['tokens:write', 'proxy'],
      status: 200,
      action: 'token.rotated',
      call: () => newToken('/rotate', { grace_seconds: 1 }),
    },
    'GET /v1/requests': {
      scopes: ['requests:read'],
      status: 200,
      lists: requestId,
      call: () => ({ path: '/v1/requests?route=orders&limit=200' }),
    },
    'GET /v1/stats': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: '/v1/stats?route=orders' }),
    },
    'GET /v1/stats/routes': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: '/v1/stats/routes' }),
    },
    'GET /v1/requests/{id}': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: `/v1/requests/${requestId}` }),
    },
    'GET /v1/audit-events': {
      scopes: ['audit:read'],
      status: 200,
      lists: routeId,
      call: () => ({ path: `/v1/audit-events?resource_id=${routeId}` }),
    },
    'POST /v1/environments/{name}/apply': {
      scopes: ['services:write', 'routes:write'],
      status: 200,
      action: ['route.created', 'service.created'],
      call: () => {
        const name = newName('service');
        const body = {
          services: [{ name, url: gateway.upstream.url }],
          routes: [{ name: 'fresh', service: name }],
        };
        const removeRoute = removeNamed('/v1/routes?environment=production', 'fresh');
        const cleanUp = () => removeRoute().then(removeNamed('/v1/services', name));
        return { path: '/v1/environments/production/apply', body, cleanUp };
      },
    },
    'GET /v1/environments/{name}/export': {
      scopes: ['services:read', 'routes:read'],
      status: 200,
      call: () => ({ path: '/v1/environments/production/export' }),
    },
    'GET /v1/environments/{name}/versions': {
      scopes: ['config:read'],
      status: 200,
      lists: 'production',
      call: async () => {
        await twoVersions();
        return { path: '/v1/environments/production/versions' };
      },
    },
    'GET /v1/environments/{name}/versions/{version}': {
      scopes: ['config:read'],
      status: 200,
      call: async () => {
        return { path: `/v1/environments/production/versions/${(await twoVersions()).to}` };
      },
    },
    'GET /v1/environments/{name}/diff': {
      scopes: ['config:read'],
      status: 200,
      lists: routeId,
      call: async () => {
        const { from, to } = await twoVersions();
        return { path: `/v1/environments/production/diff?from=${from}&to=${to}` };
      },
    },
    'POST /v1/environments/{name}/rollback': {
      scopes: ['config:write', 'services:write', 'routes:write'],
      routes: 'all',
      status: 200,
      action: ['environment.rolled_back', 'service.updated'],
      call: async () => {
        const { id } = await gateway.service({ name: newName('service') });
        const version = await newestVersion();
        await admin.patch(`/v1/services/${id}`, { health_path: '/changed' });
        const path = '/v1/environments/production/rollback';
        return { path, body: { version }, cleanUp: remove(`/v1/services/${id}`) };
      },
    },
    'GET /v1/config/versions': {
      scopes: ['config:read'],
      status: 200,
      lists: 'production',
      call: async () => {
        await twoVersions();
        return { path: '/v1/config/versions?environment=production' };
      },
    },
    'GET /v1/config/versions/{version}': {
      scopes: ['config:read'],
      status: 200,
      call: async () => {
        return { path: `/v1/config/versions/${(await twoVersions()).to}?environment=production` };
      },
    },
    'GET /v1/config/diff': {
      scopes: ['config:read'],
      status: 200,
      lists: routeId,
      call: async () => {
        const { from, to } = await twoVersions();
        return { path: `/v1/config/diff?environment=production&from=${from}&to=${to}` };
      },
    },
    'POST /v1/config/rollback': {
      scopes: ['config:write', 'services:write', 'routes:write'],
      routes: 'all',
      status: 200,
      action: ['environment.rolled_back', 'service.updated'],
      call: async () => {
        const { id } = await gateway.service({ name: newName('service') });
        const version = await newestVersion();
        await admin.patch(`/v1/services/${id}`, { health_path: '/changed' });
        const body = { environment: 'production', version };
        return { path: '/v1/config/rollback', body, cleanUp: remove(`/v1/services/${id}`) };
      },
    },
    'POST /v1/routes/{id}/explain': {
      scopes: ['config:read'],
      status: 200,
      call: () => ({ path: `/v1/routes/${routeId}/explain`, body: { anonymous: true } }),
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
