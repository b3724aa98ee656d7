import { isDeepStrictEqual } from 'node:util';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import { changeConfiguration, startEvent } from '../configuration/record-change.ts';
import type { Database } from '../database.ts';
import { tokenChange } from './token-change.ts';

const NAME = 'admin';
const EVERYTHING = ['*'];

/** `kept`: nothing changed; `revoked`: an operator has revoked this secret. */
export type AdminTokenState = 'created' | 'replaced' | 'kept' | 'revoked';

/**
 * Sets the operator's secret as that of the token `admin`, which covers everything. It is a token like any
 * other: stored as a hash, published to the data planes, and a revoked secret is never restored. Several
 * replicas may call this at once.
 */
export function ensureAdminToken(
  db: Database,
  admin: { readonly id: string; readonly sha256: Buffer },
  origin: ChangeOrigin,
): Promise<AdminTokenState> {
  return changeConfiguration<AdminTokenState>(db, origin, 'environments', async (transaction) => {
    const known = await transaction
      .selectFrom('tokens')
      .selectAll()
      .where((eb) =>
        eb.or([
          eb('secret_sha256', '=', admin.sha256),
          eb.and([eb('name', '=', NAME), eb('revoked_at', 'is', null)]),
        ]),
      )
      .forUpdate()
      .execute();
    if (known.some((token) => token.revoked_at !== null)) return { result: 'revoked', changes: [] };
    const current = known.find((token) => token.name === NAME);
    const wanted = {
      environments: EVERYTHING,
      routes: EVERYTHING,
      scopes: EVERYTHING,
      secret_sha256: admin.sha256,
      expires_at: null,
    };
    const event = startEvent(origin, current);
    if (current === undefined) {
      const row = await transaction
        .insertInto('tokens')
        .values({
          ...wanted,
          id: admin.id,
          name: NAME,
          created_by: null,
          created_at: event.at,
          updated_at: event.at,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { result: 'created', changes: [tokenChange(event, 'token.created', null, row)] };
    }
    const { environments, routes, scopes, secret_sha256, expires_at } = current;
    if (isDeepStrictEqual({ environments, routes, scopes, secret_sha256, expires_at }, wanted)) {
      return { result: 'kept', changes: [] };
    }
    const row = await transaction
      .updateTable('tokens')
      .set({ ...wanted, previous_sha256: null, previous_expires_at: null, updated_at: event.at })
      .where('id', '=', current.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    // Published in all environments, also if it covered fewer before.
    return { result: 'replaced', changes: [tokenChange(event, 'token.rotated', current, row)] };
  });
}
