import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/** The largest number of rows that one statement deletes. */
const BATCH_ROWS = 5000;

/**
 * Deletes tokens that were revoked before `beforeMs`, a bounded number at a time. Admin tokens stay, so that the operator's
 * setting never brings one back that was revoked.
 *
 * @returns how many were deleted
 */
export async function deleteRevokedTokens(db: Database, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM tokens WHERE id IN (
      SELECT id FROM tokens
      WHERE revoked_at < ${new Date(beforeMs)} AND created_by IS NOT NULL
      ORDER BY revoked_at LIMIT ${BATCH_ROWS}
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/**
 * Deletes secrets that tokens had before and that were replaced before `beforeMs`, a bounded number at a time; never those
 * of an admin token.
 *
 * @returns how many were deleted
 */
export async function deleteReplacedSecrets(db: Database, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM replaced_secrets WHERE sha256 IN (
      SELECT sha256 FROM replaced_secrets JOIN tokens ON tokens.id = token_id
      WHERE replaced_at < ${new Date(beforeMs)} AND created_by IS NOT NULL
      ORDER BY replaced_at LIMIT ${BATCH_ROWS}
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
