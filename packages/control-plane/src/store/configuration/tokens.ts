import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import { auditedToken, type Token } from '../../domain/token.ts';
import { noteAuditEvent } from './audit-events.ts';
import type { Database } from '../database.ts';
import { replacingViolation } from '../failures.ts';
import { lockEnvironments, noteTokenChange } from '../publication/outbox.ts';

const SHOWN = [
  ...(['id', 'name', 'environments', 'routes', 'scopes', 'expires_at'] as const),
  ...(['created_by', 'created_at', 'updated_at', 'last_used_at'] as const),
] as const;

/** A token that a secret opens, with the time from which that secret no longer does. */
export interface OpenedToken extends TokenReach {
  readonly id: string;
  readonly expires_at: Date | null;
  readonly secretExpiresAt: Date | null;
}

/**
 * The token of which this is the hash of the secret, or of the one before its rotation. Revoked ones
 * are left out; expiry is for the caller to judge, by its own clock.
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

/** Tokens that reach no further than `within`, by id, which is the order of their making. */
export function listTokens(
  db: Database,
  filter: { within: TokenReach; after: string | undefined; limit: number },
): Promise<Token[]> {
  let query = db.selectFrom('tokens').select(SHOWN).where('revoked_at', 'is', null);
  for (const column of ['environments', 'routes', 'scopes'] as const) {
    const names = filter.within[column];
    if (names.includes('*')) continue;
    query = query.where(sql<boolean>`${sql.ref(column)} <@ ${names}::text[]`);
  }
  if (filter.after !== undefined) query = query.where('id', '>', filter.after);
  return query.orderBy('id').limit(filter.limit).execute();
}

/** Whether any token is left that was not revoked. */
export async function hasTokens(db: Database): Promise<boolean> {
  const query = db.selectFrom('tokens').select('id').where('revoked_at', 'is', null).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** @throws GatewayError token_not_found, also where it was revoked. */
export async function findToken(db: Database, id: string): Promise<Token> {
  const row = await db
    .selectFrom('tokens')
    .select(SHOWN)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw tokenNotFound();
  return row;
}

export interface NewToken extends TokenReach {
  readonly id: string;
  readonly name: string;
  readonly secretSha256: Buffer;
  readonly expiresAt: Date | null;
  readonly createdBy: string | null;
}

/** @throws GatewayError name_conflict */
export function createToken(db: Database, token: NewToken, origin: ChangeOrigin): Promise<Token> {
  const taken = () =>
    new GatewayError('name_conflict', 'A token of this name exists already.', {
      details: [{ path: 'name', message: 'is taken' }],
    });
  return replacingViolation('tokens_name_key', taken, () =>
    db.transaction().execute(async (transaction) => {
      await lockIfWildcard(transaction, token);
      const row = await transaction
        .insertInto('tokens')
        .values({
          id: token.id,
          name: token.name,
          environments: [...token.environments],
          routes: [...token.routes],
          scopes: [...token.scopes],
          secret_sha256: token.secretSha256,
          expires_at: token.expiresAt,
          created_by: token.createdBy,
          created_at: origin.at,
          updated_at: origin.at,
        })
        .returning(SHOWN)
        .executeTakeFirstOrThrow();
      await noteTokenChange(transaction, origin, token.environments, 'created', token.id);
      await noteAuditEvent(transaction, origin, {
        action: 'token.created',
        ...{ resourceId: row.id, environments: row.environments, routes: row.routes },
        ...{ before: null, after: auditedToken(row) },
      });
      return row;
    }),
  );
}

/** Gives the token as it was. @throws GatewayError token_not_found, and what `check` throws. */
export function revokeToken(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  check: (current: Token) => void,
): Promise<Token> {
  return db.transaction().execute(async (transaction) => {
    const current = await lockToken(transaction, id);
    check(current);
    await transaction
      .updateTable('tokens')
      .set({ revoked_at: origin.at, updated_at: origin.at })
      .where('id', '=', id)
      .execute();
    await noteTokenChange(transaction, origin, current.environments, 'revoked', id);
    await noteAuditEvent(transaction, origin, {
      action: 'token.revoked',
      ...{ resourceId: id, environments: current.environments, routes: current.routes },
      ...{ before: auditedToken(current), after: null },
    });
    return current;
  });
}

/**
 * Gives a token a new secret. The one it had stays good until `graceEnd`; one from an earlier
 * rotation ends at once, as a token has two secrets at most.
 *
 * @throws GatewayError token_not_found, and what `check` throws.
 */
export function rotateToken(
  db: Database,
  id: string,
  rotation: { readonly secretSha256: Buffer; readonly graceEnd: Date },
  origin: ChangeOrigin,
  check: (current: Token) => void,
): Promise<Token> {
  return db.transaction().execute(async (transaction) => {
    const current = await lockToken(transaction, id);
    check(current);
    const row = await transaction
      .updateTable('tokens')
      .set((eb) => ({
        secret_sha256: rotation.secretSha256,
        previous_sha256: eb.ref('secret_sha256'),
        previous_expires_at: rotation.graceEnd,
        updated_at: origin.at,
      }))
      .where('id', '=', id)
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await noteTokenChange(transaction, origin, current.environments, 'rotated', id);
    const previous_secret_expires_at = rotation.graceEnd.toISOString();
    await noteAuditEvent(transaction, origin, {
      action: 'token.rotated',
      ...{ resourceId: id, environments: current.environments, routes: current.routes },
      before: auditedToken(current),
      after: { ...auditedToken(row), previous_secret_expires_at },
    });
    return row;
  });
}

async function lockToken(transaction: Database, id: string): Promise<Token> {
  await lockIfWildcard(transaction, await findToken(transaction, id));
  const row = await transaction
    .selectFrom('tokens')
    .select(SHOWN)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw tokenNotFound();
  return row;
}

/** Taken before the row, as whoever makes an environment takes it before everything else as well. */
async function lockIfWildcard(transaction: Database, token: TokenReach): Promise<void> {
  if (token.environments.includes('*')) await lockEnvironments(transaction);
}

export function tokenNotFound(): GatewayError {
  return new GatewayError('token_not_found', 'There is no token of this id.');
}
