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

/** How far a token reaches: environments and route names (`*` is every one) and scopes. */
export interface TokenReach {
  readonly environments: readonly string[];
  readonly routes: readonly string[];
  readonly scopes: readonly string[];
}

/** Whether a list of names, in which `*` stands for every name, holds this one. */
export function covers(list: readonly string[], name: string): boolean {
  return list.includes(name) || list.includes('*');
}

/** Whether everything that `wanted` reaches, `granting` reaches as well: no token grants what it lacks. */
export function reaches(granting: TokenReach, wanted: TokenReach): boolean {
  return (
    wanted.environments.every((name) => covers(granting.environments, name)) &&
    wanted.routes.every((name) => covers(granting.routes, name)) &&
    wanted.scopes.every((name) => covers(granting.scopes, name))
  );
}
