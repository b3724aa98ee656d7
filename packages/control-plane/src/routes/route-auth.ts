import type { RouteAuth } from '@gateway/shared/definitions/route-auth';
import type { SnapshotAuth } from '@gateway/shared/snapshot/schema';

/** The authentication in the form of the snapshot: lists where the body also accepts a single value. */
export function servedAuth(auth: RouteAuth): SnapshotAuth {
  if (auth.type !== 'jwt') return auth;
  const { audience, required_claims: claims } = auth;
  return {
    ...auth,
    audience: typeof audience === 'string' ? [audience] : audience,
    required_claims: Array.isArray(claims)
      ? claims.map((name) => ({ name, values: null }))
      : Object.entries(claims)
          .map(([name, values]) => ({ name, values: Array.isArray(values) ? values : [values] }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
