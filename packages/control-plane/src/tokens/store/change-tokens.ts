import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { TokenReach } from '@gateway/shared/tokens/scopes';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import { requireOutlivedBy, requirePresentSecret, type CallerToken } from '../../access/caller.ts';
import { auditedToken, type Token } from '../token.ts';
import { takeLock, type ChangeLock } from '../../changes/store/change-lock.ts';
import { changeConfiguration, stampChange } from '../../changes/store/record-change.ts';
import { environmentNotFound, lockEnvironments } from '../../environments/store/environments.ts';
import { holdRouteNames } from '../../access/store/tokens-of-routes.ts';
import type { ConfirmCaller } from '../../changes/store/confirm-caller.ts';
import type { Database } from '../../store/database.ts';
import { replacingViolation } from '../../store/failures.ts';
import { findToken, SHOWN_COLUMNS, tokenNotFound } from '../../access/store/find-tokens.ts';
import { ADMIN_TOKEN_NAME } from './admin-token.ts';
import { tokenChange } from './token-change.ts';

export interface NewToken extends Omit<
  Token,
  'created_at' | 'updated_at' | 'last_used_at' | 'secret_prefix'
> {
  readonly secret_sha256: Buffer;
  /** undefined: it is not known. */
  readonly secret_prefix?: string;
}

function nameTaken(name: string | undefined): GatewayError {
  const isReserved = name === ADMIN_TOKEN_NAME;
  return new GatewayError(
    'name_conflict',
    isReserved
      ? `The name ${ADMIN_TOKEN_NAME} is reserved for the token of GATEWAY_ADMIN_TOKEN.`
      : 'Another token of these environments has this name.',
    { details: [{ path: 'name', message: isReserved ? 'is reserved' : 'is taken' }] },
  );
}

/**
 * Creates a token that does not outlive its creator, of environments that exist. It keeps them from being deleted
 * meanwhile: the token would be valid in the next environment of that name.
 *
 * @param missing the error if there is no environment of this name
 * @throws GatewayError name_conflict, authentication_failed, environment_not_found, or that error
 */
export function createToken(
  db: Database,
  token: NewToken,
  origin: ChangeOrigin,
  missing: (environment: string) => GatewayError = environmentNotFound,
): Promise<Token> {
  return replacingViolation(
    'tokens_name_key',
    () => nameTaken(token.name),
    () =>
      changeConfiguration(db, origin, lockFor(token), async (transaction, confirmCaller) => {
        await holdRouteNames(transaction);
        const unknown = await lockEnvironments(transaction, token.environments);
        if (unknown !== undefined) throw missing(unknown);
        const caller = await confirmTokenChange(confirmCaller);
        if (caller !== undefined) requireOutlivedBy(token.expires_at, caller);
        const event = stampChange(origin);
        const row = await transaction
          .insertInto('tokens')
          .values({ ...token, created_at: event.at, updated_at: event.at })
          .returning(SHOWN_COLUMNS)
          .executeTakeFirstOrThrow();
        return { result: row, changes: [tokenChange(event, 'token.created', null, row)] };
      }),
  );
}

/** Checks a change of a token by the caller, as the transaction of the change sees both. */
type Check = (current: Token, caller: CallerToken) => void;

/** What changes of a token; undefined: nothing. */
export interface TokenChanges {
  readonly name?: string | undefined;
  readonly expires_at?: Date | null | undefined;
}

/**
 * Changes the name and the expiry of a token. Nothing changes if they are the same.
 *
 * @param check not called if the control plane makes the change
 * @throws GatewayError token_not_found, name_conflict, authentication_failed, and what `check` throws
 */
export function updateToken(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  { name, expires_at }: TokenChanges,
  check: Check,
): Promise<Token> {
  return replacingViolation(
    'tokens_name_key',
    () => nameTaken(name),
    () =>
      changeConfiguration(db, origin, undefined, async (transaction, confirmCaller) => {
        const current = await lockToken(transaction, id);
        const caller = await confirmTokenChange(confirmCaller);
        if (caller !== undefined) check(current, caller);
        const wanted = {
          name: name ?? current.name,
          expires_at: expires_at === undefined ? current.expires_at : expires_at,
        };
        if (isDeepStrictEqual({ ...current, ...wanted }, current)) {
          return { result: current, changes: [] };
        }
        const event = stampChange(origin, current);
        const row = await transaction
          .updateTable('tokens')
          .set({ ...wanted, updated_at: event.at })
          .where('id', '=', id)
          .returning(SHOWN_COLUMNS)
          .executeTakeFirstOrThrow();
        return { result: row, changes: [tokenChange(event, 'token.updated', current, row)] };
      }),
  );
}

/**
 * Revokes a token and returns it. A change that the token makes at the same time is committed before, or refused.
 *
 * @throws GatewayError token_not_found, authentication_failed, and what `check` throws
 */
export function revokeToken(
  db: Database,
  id: string,
  origin: ChangeOrigin,
  check: Check,
): Promise<Token> {
  return changeConfiguration(db, origin, undefined, async (transaction, confirmCaller) => {
    const current = await lockToken(transaction, id);
    const caller = await confirmTokenChange(confirmCaller, id);
    if (caller !== undefined) check(current, caller);
    const event = stampChange(origin, current);
    await transaction
      .updateTable('tokens')
      .set({ revoked_at: event.at, updated_at: event.at })
      .where('id', '=', id)
      .execute();
    return { result: current, changes: [tokenChange(event, 'token.revoked', current, null)] };
  });
}

/** A new secret of a token. */
export interface Rotation {
  readonly secretSha256: Buffer;
  /** undefined: it is not known. */
  readonly secretPrefix?: string;
  /** When the former secret ends. */
  readonly graceEnd: Date;
}

/**
 * Gives a token a new secret. The present one stays valid until `graceEnd`. One from an earlier rotation
 * ends at once, because a token has at most two secrets. A change that is made with an ended secret at the same time is
 * committed before, or refused.
 *
 * @throws GatewayError token_not_found, authentication_failed, and what `check` throws
 */
export function rotateToken(
  db: Database,
  id: string,
  rotation: Rotation,
  origin: ChangeOrigin,
  check: Check,
): Promise<Token> {
  return changeConfiguration(db, origin, undefined, async (transaction, confirmCaller) => {
    const current = await lockToken(transaction, id);
    const caller = await confirmTokenChange(confirmCaller, id);
    if (caller !== undefined) check(current, caller);
    const event = stampChange(origin, current);
    const row = await transaction
      .updateTable('tokens')
      .set((eb) => ({
        secret_sha256: rotation.secretSha256,
        secret_prefix: rotation.secretPrefix ?? null,
        previous_sha256: eb.ref('secret_sha256'),
        previous_expires_at: rotation.graceEnd,
        updated_at: event.at,
      }))
      .where('id', '=', id)
      .returning(SHOWN_COLUMNS)
      .executeTakeFirstOrThrow();
    const change = tokenChange(event, 'token.rotated', current, row);
    const previous_secret_expires_at = rotation.graceEnd.toISOString();
    const after = { ...auditedToken(row), previous_secret_expires_at };
    const audited = { event, before: auditedToken(current), after };
    return { result: row, changes: [{ ...change, audited }] };
  });
}

/** Confirms the caller of a change of tokens. @throws GatewayError authentication_failed */
async function confirmTokenChange(
  confirmCaller: ConfirmCaller,
  endsSecretOf?: string,
): Promise<CallerToken | undefined> {
  const caller = await confirmCaller(endsSecretOf);
  if (caller !== undefined) requirePresentSecret(caller);
  return caller;
}

async function lockToken(transaction: Database, id: string): Promise<Token> {
  const lock = lockFor(await findToken(transaction, id));
  // Before the row, in the same order as the creation of an environment.
  if (lock !== undefined) await takeLock(transaction, lock);
  const row = await transaction
    .selectFrom('tokens')
    .select(SHOWN_COLUMNS)
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
