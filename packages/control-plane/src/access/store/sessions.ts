import { sql } from 'kysely';
import type { SessionBounds } from '../session-life.ts';
import type { Database } from '../../store/database.ts';
import type { OpenedToken } from './find-tokens.ts';

/** A token has at most this number of sessions; a further one ends the one that was not used for the longest time. */
const MAX_SESSIONS_OF_TOKEN = 100;
/** The largest number of rows that one statement deletes. */
const BATCH_ROWS = 5000;

export interface NewSession {
  readonly idSha256: Buffer;
  readonly tokenId: string;
  /** Of the secret that was exchanged. The session ends when the token no longer has this secret. */
  readonly secretSha256: Buffer;
  readonly now: Date;
}

/** The token of a session. */
export interface SessionToken extends OpenedToken {
  readonly lastUsedAt: Date;
}

/** Stores a session. */
export async function createSession(db: Database, session: NewSession): Promise<void> {
  const { idSha256, tokenId, secretSha256, now } = session;
  await sql`
    WITH dropped AS (
      DELETE FROM console_sessions WHERE id_sha256 IN (
        SELECT id_sha256 FROM console_sessions WHERE token_id = ${tokenId}
        ORDER BY last_used_at DESC OFFSET ${sql.lit(MAX_SESSIONS_OF_TOKEN - 1)}
      )
    )
    INSERT INTO console_sessions (id_sha256, token_id, secret_sha256, created_at, last_used_at)
    VALUES (${idSha256}, ${tokenId}, ${secretSha256}, ${now}, ${now})
  `.execute(db);
}

/**
 * The token of a live session. A session whose token is revoked, or no longer has the exchanged secret, is not found. The
 * caller checks the expiry of the token by its own clock.
 */
export async function findTokenBySession(
  db: Database,
  idSha256: Buffer,
  { usedAfter, createdAfter }: SessionBounds,
): Promise<SessionToken | undefined> {
  const { rows } = await sql<SessionToken>`
    SELECT tokens.id, environments, routes, scopes, expires_at,
      CASE WHEN tokens.secret_sha256 <> session.secret_sha256 THEN previous_expires_at END
        AS "secretExpiresAt",
      session.last_used_at AS "lastUsedAt"
    FROM console_sessions AS session JOIN tokens ON tokens.id = session.token_id
    WHERE id_sha256 = ${idSha256} AND revoked_at IS NULL
      AND session.secret_sha256 IN (tokens.secret_sha256, previous_sha256)
      AND session.last_used_at > ${usedAfter} AND session.created_at > ${createdAfter}
  `.execute(db);
  return rows[0];
}

/** Notes that a session was used. */
export async function renewSession(db: Database, idSha256: Buffer, now: Date): Promise<void> {
  await sql`
    UPDATE console_sessions SET last_used_at = ${now}
    WHERE id_sha256 = ${idSha256} AND last_used_at < ${now}
  `.execute(db);
}

/** Ends sessions. */
export async function deleteSessions(db: Database, idSha256s: readonly Buffer[]): Promise<void> {
  await sql`DELETE FROM console_sessions WHERE id_sha256 = ANY(${idSha256s}::bytea[])`.execute(db);
}

/** Deletes sessions that have ended, a bounded number at a time. @returns how many */
export async function deleteEndedSessions(
  db: Database,
  { usedAfter, createdAfter }: SessionBounds,
  now: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM console_sessions WHERE id_sha256 IN (
      SELECT id_sha256
      FROM console_sessions AS session JOIN tokens ON tokens.id = session.token_id
      WHERE session.last_used_at <= ${usedAfter} OR session.created_at <= ${createdAfter}
        OR revoked_at IS NOT NULL OR expires_at <= ${now}
        OR NOT (
          session.secret_sha256 = tokens.secret_sha256
          OR (session.secret_sha256 IS NOT DISTINCT FROM previous_sha256
            AND previous_expires_at > ${now})
        )
      LIMIT ${sql.lit(BATCH_ROWS)} FOR UPDATE OF session SKIP LOCKED
    )
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
