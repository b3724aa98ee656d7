/** What a token may do. */
export const SCOPES = [
  'services:read',
  'services:write',
  'routes:read',
  'routes:write',
  'requests:read',
  'tokens:write',
  'config:write',
  'proxy',
  '*',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The rights of a token: environments, route names (`*` means all) and scopes. */
export interface TokenReach {
  readonly environments: readonly string[];
  readonly routes: readonly string[];
  readonly scopes: readonly string[];
}

/** Whether a list of names contains this one; `*` in the list means every name. */
export function covers(list: readonly string[], name: string): boolean {
  return list.includes(name) || list.includes('*');
}

/** Whether `granting` has all rights of `wanted`: a token cannot grant rights that it does not have. */
export function reaches(granting: TokenReach, wanted: TokenReach): boolean {
  return (
    wanted.environments.every((name) => covers(granting.environments, name)) &&
    wanted.routes.every((name) => covers(granting.routes, name)) &&
    wanted.scopes.every((name) => covers(granting.scopes, name))
  );
}
