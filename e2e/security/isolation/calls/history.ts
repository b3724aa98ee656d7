import type { World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** What has happened: request records, statistics, audit events. */
export function historyRows({ routeId, requestId }: World): ManagementRows {
  // A period that does not move, so that two answers can be compared.
  const [from = '', to = ''] = [-1, 1].map((hours) =>
    new Date(Date.now() + hours * 3_600_000).toISOString(),
  );
  const period = `from=${from}&to=${to}`;
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
      call: () => ({ path: `/v1/stats?route=orders&${period}` }),
    },
    'GET /v1/stats/routes': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: `/v1/stats/routes?${period}` }),
    },
    'GET /v1/stats/requests': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: `/v1/stats/requests?route=orders&by=route&${period}` }),
    },
    'GET /v1/stats/callers': {
      scopes: ['requests:read'],
      status: 200,
      call: () => ({ path: `/v1/stats/callers?${period}` }),
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
