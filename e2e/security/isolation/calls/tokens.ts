import type { FreshResources, World } from '../fresh-resources.ts';
import type { ManagementRows } from './management-row.ts';

/** Tokens, the token of the caller, and what every token may read. */
export function tokenRows(
  { tokenId }: World,
  { newName, newToken, reach }: FreshResources,
): ManagementRows {
  return {
    'GET /v1/whoami': {
      scopes: ['proxy'],
      status: 200,
      call: () => ({ path: '/v1/whoami' }),
    },
    'GET /v1/links': {
      scopes: ['proxy'],
      status: 200,
      call: () => ({ path: '/v1/links' }),
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
      call: () => ({ path: '/v1/tokens', body: { name: newName('token'), ...reach } }),
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
  };
}
