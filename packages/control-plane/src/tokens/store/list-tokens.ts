import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { tokenStateLimits, type TokenState } from '@gateway/shared/tokens/token-states';
import { sql, type RawBuilder } from 'kysely';
import { SHOWN_COLUMNS } from '../../access/store/find-tokens.ts';
import { coveredBy } from '../../access/store/tokens-of-routes.ts';
import type { Database } from '../../store/database.ts';
import { isAfter } from '../../store/keyset.ts';
import type { Token } from '../token.ts';
import type { TokenOrder, TokenPosition } from '../token-order.ts';

export interface TokenFilter {
  /** Only tokens that cover no more. */
  readonly within: TokenReach;
  readonly environment?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** A part of the name, in lower case. */
  readonly search?: string | undefined;
  readonly state?: TokenState | undefined;
  /** What states are compared with, ms since the Unix epoch. */
  readonly nowMs: number;
}

/** Tokens by id, which is the order of creation. */
export function listTokens(
  db: Database,
  filter: TokenFilter & { readonly after: string | undefined; readonly limit: number },
): Promise<Token[]> {
  let query = tokensOf(db, filter).select(SHOWN_COLUMNS);
  if (filter.after !== undefined) query = query.where('id', '>', filter.after);
  return query.orderBy('id').limit(filter.limit).execute();
}

/** A token, and the value that its place in the list follows from, as text. */
export interface OrderedToken {
  readonly token: Token;
  readonly key: string;
}

/** Tokens in an order; those that are equal in it by id. */
export async function listOrderedTokens(
  db: Database,
  filter: TokenFilter & {
    readonly order: TokenOrder;
    readonly after: TokenPosition | undefined;
    readonly limit: number;
  },
): Promise<readonly OrderedToken[]> {
  const { order, after, limit } = filter;
  const key = KEYS[order.by];
  let query = tokensOf(db, filter)
    .select(SHOWN_COLUMNS)
    .select(sql<string>`(${key})::text`.as('order_key'));
  if (after !== undefined) {
    const value = order.by === 'name' ? sql`${after.key}::text` : sql`${after.key}::numeric`;
    const { isDescending } = order;
    query = query.where(isAfter({ key, value, isDescending, idColumn: 'id', id: after.id }));
  }
  const direction = order.isDescending ? sql`DESC` : sql`ASC`;
  const rows = await query
    .orderBy(sql`${key} ${direction}`)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ order_key, ...token }) => ({ token, key: order_key }));
}

const KEYS: Readonly<Record<TokenOrder['by'], RawBuilder<unknown>>> = {
  name: sql`name`,
  last_used_at: sql`coalesce(extract(epoch FROM last_used_at)::numeric, -1)`,
  // After the last time that a token may expire.
  expires_at: sql`coalesce(extract(epoch FROM expires_at)::numeric, 1e15)`,
};

function tokensOf(db: Database, filter: TokenFilter) {
  const { within, environment, ids, search, state, nowMs } = filter;
  let query = db.selectFrom('tokens').where('revoked_at', 'is', null).where(coveredBy(within));
  if (environment !== undefined) {
    query = query.where(sql<boolean>`environments && ${[environment, '*']}::text[]`);
  }
  if (ids !== undefined) query = query.where('id', 'in', ids);
  if (search !== undefined && search !== '') {
    query = query.where(sql<boolean>`strpos(lower(name), ${search}) > 0`);
  }
  return state === undefined ? query : query.where(isInState(state, nowMs));
}

/** The same as `tokenState`. */
function isInState(state: TokenState, nowMs: number): RawBuilder<boolean> {
  const limits = tokenStateLimits(nowMs);
  const time = (ms: number) => sql`${new Date(ms)}::timestamptz`;
  const ended = sql`coalesce(expires_at <= ${time(nowMs)}, false)`;
  const ending = sql`coalesce(expires_at <= ${time(limits.expiringUntilMs)}, false)`;
  const idle = sql`coalesce(last_used_at, created_at) <= ${time(limits.unusedSinceMs)}`;
  switch (state) {
    case 'expired':
      return sql<boolean>`${ended}`;
    case 'expiring':
      return sql<boolean>`(NOT ${ended} AND ${ending})`;
    case 'unused':
      return sql<boolean>`(NOT ${ending} AND ${idle})`;
    case 'active':
      return sql<boolean>`(NOT ${ending} AND NOT ${idle})`;
  }
}
