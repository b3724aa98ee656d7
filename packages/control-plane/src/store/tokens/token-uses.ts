import { sql } from 'kysely';
import type { Database } from '../database.ts';

/**
 * Notes when tokens were used, by id, ms since the Unix epoch. A token whose noted use is less than
 * `resolutionMs` older keeps it, so that however many processes note uses, a token is written once in
 * that time. In the order of the ids, so that two writers never wait for each other in a ring.
 */
export async function noteTokenUses(
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
