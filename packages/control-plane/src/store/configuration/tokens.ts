import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { sql } from 'kysely';
import type { AuditAction, ChangeOrigin } from '../../domain/audit-event.ts';
import { auditedToken, type Token } from '../../domain/token.ts';
import type { Database } from '../database.ts';
import { replacingViolation } from '../failures.ts';
import {
  changeConfiguration,
  startEvent,
  takeLock,
  type ChangeEvent,
  type ChangeLock,
  type RecordedChange,
} from './record-change.ts';

/** All that a token is but its secrets. */
const SHOWN = [
  'id',
  'name',
  'environments',
  'routes',
  'scopes',
  'expires_at',
  'created_by',
  'created_at',
  'updated_at',
  'last_used_at',
] as const satisfies readonly (keyof Token)[];

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

export interface NewToken extends Omit<Token, 'created_at' | 'updated_at' | 'last_used_at'> {
  readonly secret_sha256: Buffer;
}

/** @throws GatewayError name_conflict */
export function createToken(db: Database, token: NewToken, origin: ChangeOrigin): Promise<Token> {
  const taken = () =>
    new GatewayError('name_conflict', 'A token of this name exists already.', {
      details: [{ path: 'name', message: 'is taken' }],
    });
  return replacingViolation('tokens_name_key', taken, () =>
    changeConfiguration(db, lockFor(token), async (transaction) => {
      const event = startEvent(origin);
      const row = await transaction
        .insertInto('tokens')
        .values({ ...token, created_at: event.at, updated_at: event.at })
        .returning(SHOWN)
        .executeTakeFirstOrThrow();
      return { result: row, changes: [tokenChange(event, 'token.created', null, row)] };
    }),
  );
}

/**
 * Revokes a token and returns it as it was.
 *
 * @throws GatewayError token_not_found, and what `check` throws.
 */
export function revokeToken(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  check: (current: Token) => void,
): Promise<Token> {
  return changeConfiguration(db, undefined, async (transaction) => {
    const current = await lockToken(transaction, id);
    check(current);
    const event = startEvent(origin, current);
    await transaction
      .updateTable('tokens')
      .set({ revoked_at: event.at, updated_at: event.at })
      .where('id', '=', id)
      .execute();
    return { result: current, changes: [tokenChange(event, 'token.revoked', current, null)] };
  });
}

/**
 * Gives a token a new secret. The one before it stays valid until `graceEnd`. One from an earlier rotation
 * ends at once, as a token has at most two secrets.
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
  return changeConfiguration(db, undefined, async (transaction) => {
    const current = await lockToken(transaction, id);
    check(current);
    const event = startEvent(origin, current);
    const row = await transaction
      .updateTable('tokens')
      .set((eb) => ({
        secret_sha256: rotation.secretSha256,
        previous_sha256: eb.ref('secret_sha256'),
        previous_expires_at: rotation.graceEnd,
        updated_at: event.at,
      }))
      .where('id', '=', id)
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    const change = tokenChange(event, 'token.rotated', current, row);
    const previous_secret_expires_at = rotation.graceEnd.toISOString();
    const after = { ...auditedToken(row), previous_secret_expires_at };
    const audited = { event, before: auditedToken(current), after };
    return { result: row, changes: [{ ...change, audited }] };
  });
}

/** So many tokens are revoked in one transaction. */
const EXPIRED_TOKENS = 500;

/**
 * Revokes tokens that expired before `expiredBefore`, a bounded number at a time: they leave the
 * snapshots, and their names can be used again.
 *
 * @returns how many were revoked
 */
export function revokeExpiredTokens(
  db: Database,
  expiredBefore: Date,
  origin: ChangeOrigin,
): Promise<number> {
  return changeConfiguration(db, 'environments', async (transaction) => {
    const expired = await transaction
      .selectFrom('tokens')
      .select(SHOWN)
      .where('revoked_at', 'is', null)
      .where('expires_at', '<', expiredBefore)
      .orderBy('id')
      .limit(EXPIRED_TOKENS)
      .forUpdate()
      .execute();
    const changes: RecordedChange[] = [];
    for (const token of expired) {
      const event = startEvent(origin, token);
      await transaction
        .updateTable('tokens')
        .set({ revoked_at: event.at, updated_at: event.at })
        .where('id', '=', token.id)
        .execute();
      changes.push(tokenChange(event, 'token.revoked', token, null));
    }
    return { result: expired.length, changes };
  });
}

/** A token is published by its id in each environment that it covers; the outbox holds nothing else of it. */
export function tokenChange(
  event: ChangeEvent,
  action: AuditAction,
  before: Token | null,
  after: Token | null,
): RecordedChange {
  const { id, environments, routes } = (after ?? before) as Token;
  return {
    action,
    resourceId: id,
    environments,
    routes,
    published: { kind: 'token', before: null, after: null },
    audited: { event, before: before && auditedToken(before), after: after && auditedToken(after) },
  };
}

async function lockToken(transaction: Database, id: string): Promise<Token> {
  const lock = lockFor(await findToken(transaction, id));
  // Before the row, as the creation of an environment takes it before everything else too.
  if (lock !== undefined) await takeLock(transaction, lock);
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

function lockFor(token: TokenReach): ChangeLock | undefined {
  return token.environments.includes('*') ? 'environments' : undefined;
}

export function tokenNotFound(): GatewayError {
  return new GatewayError('token_not_found', 'There is no token of this id.');
}
