import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import type { Database } from '../../store/database.ts';
import {
  changeConfiguration,
  stampChange,
  type Written,
} from '../../changes/store/record-change.ts';
import { tokenChange } from './token-change.ts';

/** The name that the admin token is created with. No other token can take it. */
export const ADMIN_TOKEN_NAME = 'admin';
const EVERYTHING = ['*'];

/**
 * What became of the operator's secret.
 *
 * - `created`, `replaced`: the admin token is new, or has this secret now.
 * - `kept`: the admin token had it already.
 * - `expired`, `revoked`, `outdated`, `foreign`: nothing changed, because the admin token has expired, was revoked or has
 *   got a newer secret, or because the secret is or was that of another token.
 */
export type AdminTokenState =
  | 'created'
  | 'replaced'
  | 'kept'
  | 'expired'
  | 'revoked'
  | 'outdated'
  | 'foreign';

interface AdminSecret {
  /** The id of the token if it has to be created. */
  readonly id: string;
  readonly sha256: Buffer;
  readonly now: Date;
}

/**
 * Gives the admin token the operator's secret, or creates it. The admin token is the one that the control plane made,
 * whatever its name is; it covers everything. It is a token like any other: stored as a hash and published to the data
 * planes. A secret that was revoked or replaced never comes back. Several replicas may call this at once.
 */
export function ensureAdminToken(
  db: Database,
  admin: AdminSecret,
  origin: ChangeOrigin,
): Promise<AdminTokenState> {
  return changeConfiguration(db, origin, 'environments', async (transaction, confirmCaller) => {
    const refused = await stateOfSecret(transaction, admin);
    if (refused !== undefined) return { result: refused, changes: [] };
    const current = await transaction
      .selectFrom('tokens')
      .selectAll()
      .where('created_by', 'is', null)
      .where('revoked_at', 'is', null)
      .orderBy('id')
      .forUpdate()
      .executeTakeFirst();
    if (current === undefined) return createAdminToken(transaction, admin, origin);
    await confirmCaller(current.id);
    const event = stampChange(origin, current);
    const row = await transaction
      .updateTable('tokens')
      .set({
        secret_sha256: admin.sha256,
        previous_sha256: null,
        previous_expires_at: null,
        expires_at: null,
        updated_at: event.at,
      })
      .where('id', '=', current.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return { result: 'replaced', changes: [tokenChange(event, 'token.rotated', current, row)] };
  });
}

/** What a secret that is known already is; undefined: it is new. */
async function stateOfSecret(
  transaction: Database,
  { sha256, now }: AdminSecret,
): Promise<AdminTokenState | undefined> {
  const token = await transaction
    .selectFrom('tokens')
    .select(['created_by', 'revoked_at', 'expires_at'])
    .where('secret_sha256', '=', sha256)
    .executeTakeFirst();
  if (token !== undefined) {
    if (token.created_by !== null) return 'foreign';
    if (token.revoked_at !== null) return 'revoked';
    return token.expires_at !== null && token.expires_at <= now ? 'expired' : 'kept';
  }
  const replaced = await transaction
    .selectFrom('replaced_secrets')
    .innerJoin('tokens', 'tokens.id', 'token_id')
    .select('created_by')
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  if (replaced === undefined) return undefined;
  return replaced.created_by === null ? 'outdated' : 'foreign';
}

async function createAdminToken(
  transaction: Database,
  { id, sha256 }: AdminSecret,
  origin: ChangeOrigin,
): Promise<Written<AdminTokenState>> {
  const event = stampChange(origin);
  const namesake = await transaction
    .selectFrom('tokens')
    .select('id')
    .where('name', '=', ADMIN_TOKEN_NAME)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  const row = await transaction
    .insertInto('tokens')
    .values({
      id,
      // An earlier release let users take the name.
      name: namesake === undefined ? ADMIN_TOKEN_NAME : `${ADMIN_TOKEN_NAME}-${id}`,
      environments: EVERYTHING,
      routes: EVERYTHING,
      scopes: EVERYTHING,
      secret_sha256: sha256,
      expires_at: null,
      created_by: null,
      created_at: event.at,
      updated_at: event.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { result: 'created', changes: [tokenChange(event, 'token.created', null, row)] };
}
