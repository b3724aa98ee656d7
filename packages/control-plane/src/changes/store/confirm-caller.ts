import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { ChangeCaller } from './change-origin.ts';
import type { CallerToken } from '../../access/caller.ts';
import type { Database } from '../../store/database.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

/**
 * Confirms the caller of a change; the second call does nothing. The result stays true until the end of the transaction.
 *
 * @param endsSecretOf the id of a token of which the change ends a secret. Changes that this token makes at the same time
 *   are committed before, or refused
 * @returns undefined if the control plane makes the change
 * @throws GatewayError authentication_failed
 */
export type ConfirmCaller = (endsSecretOf?: string) => Promise<CallerToken | undefined>;

/**
 * Makes the confirmation of the caller of a change; null: the control plane itself. It waits only for the end of a transaction that has confirmed its own
 * caller. So a transaction that ends a secret must lock its rows before and wait for nothing afterwards; then two
 * transactions cannot wait for each other.
 */
export function callerConfirmation(
  transaction: Database,
  caller: ChangeCaller | null,
): ConfirmCaller {
  let confirmed: Promise<CallerToken | undefined> | undefined;

  async function confirm(endsSecretOf: string | undefined): Promise<CallerToken | undefined> {
    const isExclusive = new Map<number, boolean>();
    if (caller !== null) isExclusive.set(lockKey(caller.tokenId), false);
    if (endsSecretOf !== undefined) isExclusive.set(lockKey(endsSecretOf), true);
    for (const [key, exclusive] of [...isExclusive].toSorted(([a], [b]) => a - b)) {
      const take = exclusive ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`;
      await sql`SELECT ${take}(${LOCK_CLASS.tokens}::int, ${key}::int)`.execute(transaction);
    }
    // After the lock, so that it sees what the transactions that held it have committed.
    return caller?.confirmToken(transaction);
  }

  return (endsSecretOf) => (confirmed ??= confirm(endsSecretOf));
}

/** Two tokens with the same key only wait for each other. */
function lockKey(tokenId: string): number {
  return createHash('sha256').update(tokenId).digest().readInt32BE(0);
}
