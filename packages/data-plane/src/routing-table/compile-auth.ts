import type { SnapshotAuth } from '@gateway/shared/snapshot/schema';
import { httpUrl } from './http-url.ts';
import type { CompiledAuth } from './compiled-auth.ts';

/**
 * How the callers of an unusable route prove who they are; undefined if not even that can be used.
 */
export function readableAuth(auth: SnapshotAuth | undefined): CompiledAuth | undefined {
  if (auth === undefined || (auth.type === 'jwt' && httpUrl(auth.jwks_url) === undefined)) {
    return undefined;
  }
  return compileAuth(auth);
}

/**
 * How the callers of a route prove who they are.
 *
 * @throws Error if the URL of the key set is not one of HTTP
 */
export function compileAuth(auth: SnapshotAuth): CompiledAuth {
  if (auth.type !== 'jwt') return auth;
  if (httpUrl(auth.jwks_url) === undefined) {
    throw new Error('the URL of its key set is not one of HTTP');
  }
  return {
    type: 'jwt',
    issuer: auth.issuer,
    audience: auth.audience,
    jwksUrl: auth.jwks_url,
    algorithms: auth.algorithms,
    requiredClaims: auth.required_claims.map(({ name, values }) => ({
      name,
      values: values === null ? undefined : new Set(values),
    })),
  };
}
