import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

/**
 * Stores when tokens were last used, ms since the Unix epoch. A token whose stored use is less than
 * `resolutionMs` older keeps it, so a token is written once in that time by any number of processes. Rows
 * are locked in the order of ids, so two writers cannot deadlock.
 */
export async function storeTokenUses(
  db: Database,
  uses: readonly (readonly [id: string, atMs: number])[],
  resolutionMs: number,
): Promise<void> {
  await sql`
    WITH used AS (
      SELECT id, to_timestamp(ms / 1000) AS at
      FROM unnest(
        ${uses.map(([id]) => id)}::text[], ${uses.map(([, atMs]) => atMs)}::float8[]
      ) AS u (id, ms)
    ), due AS (
      SELECT tokens.id, used.at FROM tokens JOIN used ON used.id = tokens.id
      WHERE last_used_at IS NULL
        OR last_used_at <= used.at - ${resolutionMs}::float8 * interval '1 millisecond'
      ORDER BY tokens.id FOR NO KEY UPDATE OF tokens
    )
    UPDATE tokens SET last_used_at = due.at FROM due WHERE tokens.id = due.id
  `.execute(db);
}
