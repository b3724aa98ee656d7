import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import { sql } from 'kysely';
import type { Database } from '../../../store/database.ts';

/** How long a key is kept. */
export const KEY_RETENTION_MS = 24 * 60 * 60 * 1000;

/** An idempotency key of a token, and what the call with it asks for. */
export interface KeyClaim {
  readonly tokenId: string;
  readonly keySha256: Buffer;
  /** SHA-256 over method, path, query and body. */
  readonly fingerprint: Buffer;
  readonly requestId: string;
  readonly nowMs: number;
}

/** The response to the first call with a key, without the secret. */
export interface StoredResponse {
  readonly kind: 'one' | 'created' | 'none';
  readonly data: object | null;
  readonly location: string | null;
  readonly etag: string | null;
  readonly concerns: readonly string[] | null;
}

export interface StoredKey extends StoredResponse {
  readonly fingerprint: Buffer;
  readonly request_id: string;
  /** Whether the response had a secret. */
  readonly had_secret: boolean;
}

/** The first call with a key, unless it was more than a day ago. */
export async function findKey(db: Database, claim: KeyClaim): Promise<StoredKey | undefined> {
  const { rows } = await sql<StoredKey>`
    SELECT fingerprint, request_id, kind, data, location, etag, concerns,
      secret_until IS NOT NULL AS had_secret
    FROM idempotency_keys
    WHERE token_id = ${claim.tokenId} AND key_sha256 = ${claim.keySha256}
      AND expires_at > ${new Date(claim.nowMs)}
  `.execute(db);
  return rows[0];
}

/**
 * Claims a key for this transaction. While another transaction has claimed it, this waits for the end of that one, at
 * most `waitMs`.
 *
 * @returns whether the key was free
 * @throws an error for which `isLockTimeout` is true
 */
export async function claimKey(
  transaction: Database,
  claim: KeyClaim,
  waitMs: number,
): Promise<boolean> {
  const { tokenId, keySha256, fingerprint, requestId, nowMs } = claim;
  const now = new Date(nowMs);
  await sql`SET LOCAL lock_timeout = ${sql.lit(waitMs)}`.execute(transaction);
  const { rows } = await sql`
    INSERT INTO idempotency_keys AS stored
      (token_id, key_sha256, fingerprint, request_id, created_at, expires_at, kind)
    VALUES (${tokenId}, ${keySha256}, ${fingerprint}, ${requestId}, ${now},
      ${new Date(nowMs + KEY_RETENTION_MS)}, 'none')
    ON CONFLICT (token_id, key_sha256) DO UPDATE SET
      fingerprint = excluded.fingerprint, request_id = excluded.request_id,
      created_at = excluded.created_at, expires_at = excluded.expires_at,
      secret = NULL, secret_until = NULL
    WHERE stored.expires_at <= ${now}
    RETURNING token_id
  `.execute(transaction);
  await sql`SET LOCAL lock_timeout = DEFAULT`.execute(transaction);
  return rows.length > 0;
}

/** Stores the response of the call that has claimed the key. */
export async function storeResponse(
  transaction: Database,
  claim: KeyClaim,
  response: StoredResponse,
  secret: { readonly sealed: SealedSecret; readonly until: Date } | undefined,
): Promise<void> {
  const { kind, data, location, etag, concerns } = response;
  const sealed = secret === undefined ? null : JSON.stringify(secret.sealed);
  await sql`
    UPDATE idempotency_keys SET kind = ${kind},
      data = ${data === null ? null : JSON.stringify(data)}::json,
      location = ${location}, etag = ${etag}, concerns = ${concerns}::text[],
      secret = ${sealed}::jsonb, secret_until = ${secret?.until ?? null}
    WHERE token_id = ${claim.tokenId} AND key_sha256 = ${claim.keySha256}
  `.execute(transaction);
}

/** Takes the secret of a response: of any number of callers at once, one gets it. Undefined: it is gone. */
export async function takeSecret(db: Database, claim: KeyClaim): Promise<SealedSecret | undefined> {
  const { rows } = await sql<{ secret: SealedSecret }>`
    WITH shown AS (
      SELECT token_id, key_sha256, secret FROM idempotency_keys
      WHERE token_id = ${claim.tokenId} AND key_sha256 = ${claim.keySha256}
        AND secret IS NOT NULL AND secret_until > ${new Date(claim.nowMs)}
      FOR UPDATE
    )
    UPDATE idempotency_keys AS stored SET secret = NULL FROM shown
    WHERE stored.token_id = shown.token_id AND stored.key_sha256 = shown.key_sha256
    RETURNING shown.secret
  `.execute(db);
  return rows[0]?.secret;
}
