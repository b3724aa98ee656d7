import { TOKEN_STATES, type TokenState } from '@gateway/shared/tokens/token-states';
import { listSearch, type ListSearch } from '../list-search.ts';

type OrderedBy = 'name' | 'last_used_at' | 'expires_at';

/** An order of the list; a minus reverses it. */
export type TokenOrder = OrderedBy | `-${OrderedBy}`;

const ORDERS: readonly TokenOrder[] = [
  'name',
  '-name',
  'last_used_at',
  '-last_used_at',
  'expires_at',
  '-expires_at',
];

/** What the URL of the list holds. */
export interface TokensSearch extends ListSearch {
  /** A part of the name. */
  readonly search?: string;
  readonly state?: TokenState;
  /** Only tokens that cover this environment; absent: all. */
  readonly of?: string;
  /** Absent: by name. */
  readonly order?: TokenOrder;
}

/** Filters to set; undefined removes one. */
export type TokenFilter = {
  readonly [Name in keyof Omit<TokensSearch, 'cursor'>]?: TokensSearch[Name] | undefined;
};

const MAX_TEXT = 63;

/** Reads it from a URL. What is wrong there is left out. */
export function tokensSearch(params: Record<string, unknown>): TokensSearch {
  const { search, state, of, order } = params;
  const known = TOKEN_STATES.find((one) => one === state);
  const ordered = ORDERS.find((one) => one === order);
  return {
    ...listSearch(params),
    // The router reads a search of digits as a number.
    ...(isText(search) && { search: String(search).slice(0, MAX_TEXT) }),
    ...(known !== undefined && { state: known }),
    ...(isText(of) && { of: String(of).slice(0, MAX_TEXT) }),
    ...(ordered !== undefined && { order: ordered }),
  };
}

/** Whether the list has not all tokens. */
export function hasFilters({ search, state, of }: TokensSearch): boolean {
  return [search, state, of].some((value) => value !== undefined);
}

function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
