import type { World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** What has happened: request records, statistics, audit events. */
export function historyRows({ routeId, requestId }: World): ManagementRows {
  return {
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
  };
}
