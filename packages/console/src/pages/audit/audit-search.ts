import { listSearch, type ListSearch } from '../list-search.ts';

export const RESOURCE_TYPES = ['service', 'route', 'token', 'environment'] as const;

/** Periods that end now, s. Events are kept for 400 days. */
export const AUDIT_PERIODS = {
  '1h': { label: 'Last hour', seconds: 3600 },
  '24h': { label: 'Last 24 hours', seconds: 86_400 },
  '7d': { label: 'Last 7 days', seconds: 604_800 },
  '30d': { label: 'Last 30 days', seconds: 2_592_000 },
} as const;

type PeriodName = keyof typeof AUDIT_PERIODS;

/** What the URL of the list holds. */
export interface AuditSearch extends ListSearch {
  readonly type?: (typeof RESOURCE_TYPES)[number];
  /** The id of a resource; of an environment, its name. */
  readonly resource?: string;
  /** The id of the token that made the change. */
  readonly token?: string;
  /** Absent: all that is kept. */
  readonly period?: PeriodName;
}

/** Reads it from a URL. What is wrong there is left out. */
export function auditSearch(params: Record<string, unknown>): AuditSearch {
  const { type, resource, token, period } = params;
  const known = RESOURCE_TYPES.find((one) => one === type);
  return {
    ...listSearch(params),
    ...(known !== undefined && { type: known }),
    ...(isId(resource) && { resource }),
    ...(isId(token) && { token }),
    ...(isPeriod(period) && { period }),
  };
}

/** Whether the list has not all changes. */
export function hasFilters({ type, resource, token, period }: AuditSearch): boolean {
  return [type, resource, token, period].some((value) => value !== undefined);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 64;
}

function isPeriod(value: unknown): value is PeriodName {
  return typeof value === 'string' && Object.hasOwn(AUDIT_PERIODS, value);
}

/** A filter to set; undefined removes it. */
export type AuditFilter = {
  readonly [Name in keyof Omit<AuditSearch, 'cursor'>]?: AuditSearch[Name] | undefined;
};
