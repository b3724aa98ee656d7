import { sql } from 'kysely';
import type { ChangeOrigin } from '../../changes/store/change-origin.ts';
import { changeConfiguration, stampChange } from '../../changes/store/record-change.ts';
import type { Database } from '../../store/database.ts';
import { SHOWN_COLUMNS } from '../../access/store/find-tokens.ts';
import { tokenChange } from './token-change.ts';

/** The largest number of tokens that are revoked in one transaction. */
const MAX_TOKENS = 500;

/**
 * Revokes tokens that expired before `expiredBefore`, a bounded number at a time: they leave the
 * snapshots, and their names can be used again. Each has its outbox row and its audit event.
 *
 * @returns how many were revoked
 */
export function revokeExpiredTokens(
  db: Database,
  expiredBefore: Date,
  origin: ChangeOrigin,
): Promise<number> {
  return changeConfiguration(db, origin, 'environments', async (transaction) => {
    const expired = await transaction
      .selectFrom('tokens')
      .select(SHOWN_COLUMNS)
      .where('revoked_at', 'is', null)
      .where('expires_at', '<', expiredBefore)
      .orderBy('id')
      .limit(MAX_TOKENS)
      .forUpdate()
      .execute();
    if (expired.length === 0) return { result: 0, changes: [] };
    const revocations = expired.map((token) => ({ token, event: stampChange(origin, token) }));
    await sql`
      UPDATE tokens SET revoked_at = revoked.at, updated_at = revoked.at
      FROM unnest(
        ${revocations.map(({ token }) => token.id)}::text[],
        ${revocations.map(({ event }) => event.at)}::timestamptz[]
      ) AS revoked (id, at)
      WHERE tokens.id = revoked.id
    `.execute(transaction);
    const changes = revocations.map(({ token, event }) => {
      return tokenChange(event, 'token.revoked', token, null);
    });
    return { result: expired.length, changes };
  });
}
