import { listSearch, type ListSearch } from '../list-search.ts';

export const RESOURCE_TYPES = ['service', 'route', 'token', 'environment'] as const;

/** What the URL of the list holds. */
export interface AuditSearch extends ListSearch {
  readonly type?: (typeof RESOURCE_TYPES)[number];
  /** The id of a resource; of an environment, its name. */
  readonly resource?: string;
  /** The id of the token that made the change. */
  readonly token?: string;
}

/** Reads it from a URL. What is wrong there is left out. */
export function auditSearch(params: Record<string, unknown>): AuditSearch {
  const { type, resource, token } = params;
  const known = RESOURCE_TYPES.find((one) => one === type);
  return {
    ...listSearch(params),
    ...(known !== undefined && { type: known }),
    ...(isId(resource) && { resource }),
    ...(isId(token) && { token }),
  };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 64;
}

/** A filter to set; undefined removes it. */
export type AuditFilter = {
  readonly [Name in 'type' | 'resource' | 'token']?: AuditSearch[Name] | undefined;
};
