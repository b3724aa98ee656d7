import type { TokenReach } from '@gateway/shared/tokens/scopes';
import { refuseAccess } from './access.ts';

/** The token of a management call. */
export interface CallerToken extends TokenReach {
  readonly id: string;
  /** When the token or the secret of the call expires, whichever is first; null: never. */
  readonly expires_at: Date | null;
  /** Whether the secret of the call was rotated away, and is valid only until the end of its grace period. */
  readonly isSecretReplaced: boolean;
}

/**
 * Finds the token of a call again, in a transaction if there is one: it may have ended while the call waited for its body,
 * for a lock or for another call.
 *
 * @throws GatewayError authentication_failed
 */
export type ConfirmToken = (transaction?: unknown) => Promise<CallerToken>;

/**
 * A secret that was rotated away may use its token, but neither change nor create tokens: its holder could otherwise lock
 * out the owner of the present secret, directly or with a token that it has created for that.
 *
 * @throws GatewayError authentication_failed
 */
export function requirePresentSecret(caller: CallerToken): void {
  if (caller.isSecretReplaced) {
    throw refuseAccess(
      'The secret of this call was rotated away: it can neither create nor change tokens. Use the new secret.',
    );
  }
}

/** Whether an expiry is later than that of the caller's token; null means never. */
function outlives(expiresAt: Date | null, caller: CallerToken): boolean {
  if (caller.expires_at === null) return false;
  return expiresAt === null || expiresAt > caller.expires_at;
}

/** A caller gets the secret of a token only if the token does not outlive the caller's. @throws GatewayError authentication_failed */
export function requireOutlivedBy(expiresAt: Date | null, caller: CallerToken): void {
  if (outlives(expiresAt, caller)) {
    throw refuseAccess('The other token would outlive the token of this call.');
  }
}
