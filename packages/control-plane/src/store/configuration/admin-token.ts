import { isDeepStrictEqual } from 'node:util';
import type { ChangeOrigin } from '../../domain/audit-event.ts';
import { auditedToken } from '../../domain/token.ts';
import { noteAuditEvent } from './audit-events.ts';
import type { Database } from '../database.ts';
import { lockEnvironments, noteTokenChange } from '../publication/outbox.ts';

const NAME = 'admin';
const EVERYTHING = ['*'];

/** `kept` where nothing was to do; `revoked` where an operator revoked this very secret. */
export type AdminTokenState = 'created' | 'replaced' | 'kept' | 'revoked';

/**
 * Makes the operator's own secret the one of the token `admin`, which reaches everything. It is a
 * token like any other: stored as a hash, published to the data planes, and revoked for good: a
 * start does not bring a revoked secret back to life. Safe with several replicas at once.
 */
export function ensureAdminToken(
  db: Database,
  admin: { readonly id: string; readonly sha256: Buffer },
  origin: ChangeOrigin,
): Promise<AdminTokenState> {
  const now = origin.at;
  return db.transaction().execute(async (transaction) => {
    await lockEnvironments(transaction);
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
    if (known.some((token) => token.revoked_at !== null)) return 'revoked';
    const current = known.find((token) => token.name === NAME);
    const reach = { environments: EVERYTHING, routes: EVERYTHING, scopes: EVERYTHING };
    const wanted = { ...reach, secret_sha256: admin.sha256, expires_at: null };
    let row;
    if (current === undefined) {
      const made = { id: admin.id, name: NAME, created_by: null, created_at: now, updated_at: now };
      row = await transaction
        .insertInto('tokens')
        .values({ ...wanted, ...made })
        .returningAll()
        .executeTakeFirstOrThrow();
    } else {
      const { environments, routes, scopes, secret_sha256, expires_at } = current;
      if (isDeepStrictEqual({ environments, routes, scopes, secret_sha256, expires_at }, wanted)) {
        return 'kept';
      }
      const noPrevious = { previous_sha256: null, previous_expires_at: null };
      row = await transaction
        .updateTable('tokens')
        .set({ ...wanted, ...noPrevious, updated_at: now })
        .where('id', '=', current.id)
        .returningAll()
        .executeTakeFirstOrThrow();
    }
    await noteTokenChange(transaction, origin, EVERYTHING, 'updated', row.id);
    await noteAuditEvent(transaction, origin, {
      action: current === undefined ? 'token.created' : 'token.rotated',
      ...{ resourceId: row.id, environments: EVERYTHING, routes: EVERYTHING },
      before: current === undefined ? null : auditedToken(current),
      after: auditedToken(row),
    });
    return current === undefined ? 'created' : 'replaced';
  });
}
