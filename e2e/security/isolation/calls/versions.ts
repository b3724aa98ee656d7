import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Versions of the configuration, at both of their paths. */
export function versionRows(
  { routeId }: World,
  { changedVersion, twoVersions }: FreshResources,
): ManagementRows {
  return {
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
      alone: true,
      status: 200,
      action: ['environment.rolled_back', 'service.updated'],
      call: async () => {
        const path = '/v1/environments/production/rollback';
        return { path, body: { version: await changedVersion() } };
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
      alone: true,
      status: 200,
      action: ['environment.rolled_back', 'service.updated'],
      call: async () => {
        const body = { environment: 'production', version: await changedVersion() };
        return { path: '/v1/config/rollback', body };
      },
    },
  };
}
