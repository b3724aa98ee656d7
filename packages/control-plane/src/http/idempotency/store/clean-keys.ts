import { sql } from 'kysely';
import type { Database } from '../../../store/database.ts';

/** The largest number of rows that one statement changes. */
const BATCH_ROWS = 5000;

/** The bounds of all stored keys together. */
export interface KeyBounds {
  readonly maxKeys: number;
  /** The bound of the responses, as JSON text. */
  readonly maxBytes: number;
}

/** Erases secrets that are not shown again. @returns how many */
export async function eraseSecrets(db: Database, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE idempotency_keys SET secret = NULL
    WHERE (token_id, key_sha256) IN (
      SELECT token_id, key_sha256 FROM idempotency_keys
      WHERE secret_until IS NOT NULL AND secret_until <= ${now} AND secret IS NOT NULL
      LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Deletes keys that have expired. @returns how many */
export async function deleteExpiredKeys(db: Database, now: Date): Promise<number> {
  return deleteKeys(
    db,
    sql`
    SELECT token_id, key_sha256 FROM idempotency_keys WHERE expires_at <= ${now}
    ORDER BY expires_at LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED
  `,
  );
}

/**
 * Drops the oldest keys above the bounds although they have not expired. All keys have the same life, so the first ones to
 * expire are the oldest. An index has all that is read.
 *
 * @returns how many
 */
export async function dropOldestKeys(db: Database, bounds: KeyBounds): Promise<number> {
  return deleteKeys(
    db,
    sql`
    SELECT token_id, key_sha256 FROM (
      SELECT token_id, key_sha256, row_number() OVER newest AS position,
        sum(bytes) OVER newest AS total_bytes
      FROM idempotency_keys
      WINDOW newest AS (
        ORDER BY expires_at DESC, token_id, key_sha256 ROWS UNBOUNDED PRECEDING
      )
    ) AS ranked
    WHERE position > ${bounds.maxKeys}::bigint OR total_bytes > ${bounds.maxBytes}::bigint
    LIMIT ${BATCH_ROWS}
  `,
  );
}

async function deleteKeys(db: Database, chosen: ReturnType<typeof sql>): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM idempotency_keys WHERE (token_id, key_sha256) IN (${chosen})
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
