import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import type { Token } from '../../tokens/token.ts';
import type { Database } from '../../store/database.ts';

/** The columns of a token without its secrets. */
export const SHOWN_COLUMNS = [
  'id',
  'name',
  'environments',
  'routes',
  'scopes',
  'expires_at',
  'secret_prefix',
  'created_by',
  'created_at',
  'updated_at',
  'last_used_at',
] as const satisfies readonly (keyof Token)[];

/** The token of a secret, with the time at which that secret expires. */
export interface OpenedToken extends TokenReach {
  readonly id: string;
  readonly expires_at: Date | null;
  readonly secretExpiresAt: Date | null;
}

/**
 * The token whose present or rotated secret has this hash. Revoked tokens are not found; the caller checks
 * the expiry by its own clock.
 */
export async function findTokenBySecret(
  db: Database,
  sha256: Buffer,
): Promise<OpenedToken | undefined> {
  const row = await db
    .selectFrom('tokens')
    .select(['id', 'environments', 'routes', 'scopes', 'expires_at', 'previous_expires_at'])
    .select('secret_sha256')
    .where((eb) => eb.or([eb('secret_sha256', '=', sha256), eb('previous_sha256', '=', sha256)]))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { secret_sha256: newest, previous_expires_at: graceEnd, ...token } = row;
  return { ...token, secretExpiresAt: newest.equals(sha256) ? null : graceEnd };
}

/** Whether any token exists that is not revoked. */
export async function hasTokens(db: Database): Promise<boolean> {
  const query = db.selectFrom('tokens').select('id').where('revoked_at', 'is', null).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** The token with this id, unless it was revoked. */
export function findLiveToken(db: Database, id: string): Promise<Token | undefined> {
  return db
    .selectFrom('tokens')
    .select(SHOWN_COLUMNS)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
}

/** @throws GatewayError token_not_found, also if it was revoked. */
export async function findToken(db: Database, id: string): Promise<Token> {
  const row = await findLiveToken(db, id);
  if (row === undefined) throw tokenNotFound();
  return row;
}

export function tokenNotFound(): GatewayError {
  return new GatewayError('token_not_found', 'There is no token with this id.');
}
