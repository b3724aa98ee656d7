import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, type Token } from '../../api/client.ts';
import type { components } from '@gateway/client';
import type { TokensSearch } from './tokens-search.ts';

/** The body that creates a token. */
export type TokenCreate = components['schemas']['TokenCreate'];

/** A new or rotated token and its secret. Keep it in the state of a dialog only. */
export interface IssuedToken {
  readonly token: Token;
  readonly secret: string;
}

/** A page of the tokens that the filters leave. */
export function tokensQuery(search: TokensSearch) {
  return queryOptions({
    queryKey: ['tokens', 'list', search],
    queryFn: async ({ signal }) => {
      const { of, order = 'name', ...others } = search;
      const query = { order, ...others, ...(of === undefined ? {} : { environment: of }) };
      return (await gateway.get('/v1/tokens', { params: { query }, signal })).body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}

/** Creates a token. @throws ApiError, ConnectionError */
export async function createToken(body: TokenCreate): Promise<IssuedToken> {
  const { secret, ...token } = (await gateway.post('/v1/tokens', { body })).body.data;
  return { token, secret };
}

/** Gives a token a new secret; the former one ends after the grace period. @throws ApiError, ConnectionError */
export async function rotateToken(id: string, graceSeconds: number): Promise<IssuedToken> {
  const params = { path: { id } };
  const body = { grace_seconds: graceSeconds };
  const { data } = (await gateway.post('/v1/tokens/{id}/rotate', { params, body })).body;
  const { secret, ...token } = data;
  return { token, secret };
}

/** Changes the name or the expiry. @throws ApiError, ConnectionError */
export async function changeToken(id: string, body: Record<string, unknown>): Promise<void> {
  await gateway.patch('/v1/tokens/{id}', { params: { path: { id } }, body });
}

/** Revokes a token. @throws ApiError, ConnectionError */
export async function revokeToken(id: string): Promise<void> {
  await gateway.delete('/v1/tokens/{id}', { params: { path: { id } } });
}
