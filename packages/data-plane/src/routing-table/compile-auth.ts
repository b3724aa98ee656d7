import type { SnapshotAuth } from '@gateway/shared/snapshot/schema';
import type { CompiledAuth } from './routing-table.ts';

/** How the callers of a route prove who they are. */
export function compileAuth(auth: SnapshotAuth): CompiledAuth {
  if (auth.type !== 'jwt') return auth;
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
