/** What a token may do. */
export const SCOPES = [
  'services:read',
  'services:write',
  'routes:read',
  'routes:write',
  'requests:read',
  'tokens:read',
  'tokens:write',
  'config:read',
  'config:write',
  'audit:read',
  'proxy',
  '*',
] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * The scopes that another scope contains. Before these read scopes existed, the write scopes had their rights, and
 * tokens of that time keep every right.
 */
const CONTAINED: Readonly<Partial<Record<string, readonly Scope[]>>> = {
  'tokens:write': ['tokens:read'],
  'config:write': ['config:read', 'audit:read'],
};

/** The scopes with those that they contain. */
export function withContainedScopes(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes.flatMap((scope) => [scope, ...(CONTAINED[scope] ?? [])]))];
}

/** Whether these scopes grant this one: it is among them or contained in one of them. */
export function grantsScope(scopes: readonly string[], scope: string): boolean {
  return covers(withContainedScopes(scopes), scope);
}

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
    wanted.scopes.every((name) => grantsScope(granting.scopes, name))
  );
}
