import {
  SecretUnreadableError,
  type SealedSecret,
  type UnreadableReason,
} from '@gateway/shared/secrets/secret-vault';
import { foldedName } from '@gateway/shared/http/headers';
import type { UpstreamCredential } from '@gateway/shared/secrets/upstream-credential';

/** The credential that the gateway sends to the upstreams of a service. */
export type CompiledCredential = UsableCredential | UnusableCredential;

export interface UsableCredential extends UpstreamCredential {
  readonly usable: true;
  /** The name with dashes for underscores; some upstreams treat both names as the same header. */
  readonly foldedHeader: string;
  readonly sealed: SealedSecret;
}

/** This process cannot decrypt the service's credential; nothing may be sent to its upstreams without it. */
export interface UnusableCredential {
  readonly usable: false;
  readonly reason: UnreadableReason;
  readonly sealed: SealedSecret;
}

/** Decrypts what a control plane encrypted for a service. */
export interface CredentialOpener {
  /** @throws SecretUnreadableError */
  open(sealed: SealedSecret, serviceId: string): UpstreamCredential;
  /** @throws SecretUnreadableError */
  openClientKey(sealed: SealedSecret, serviceId: string): string;
}

/** Has no keys, so no credential is usable. */
export const NO_KEYS: CredentialOpener = {
  open(sealed) {
    throw new SecretUnreadableError('key_missing', sealed.key_id);
  },
  openClientKey(sealed) {
    throw new SecretUnreadableError('key_missing', sealed.key_id);
  },
};

/**
 * Decrypts a credential once per table, so that no request has to. A credential that cannot be decrypted
 * makes only its own service unusable; all others are served.
 */
export function compileCredential(
  sealed: SealedSecret | undefined,
  serviceId: string,
  opener: CredentialOpener,
): CompiledCredential | undefined {
  if (sealed === undefined) return undefined;
  try {
    const { header, value } = opener.open(sealed, serviceId);
    return { usable: true, header, foldedHeader: foldedName(header), value, sealed };
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
    return { usable: false, reason: error.reason, sealed };
  }
}

/** Whether the secret is the known one. Each encryption differs, so equal ciphertext means an equal secret. */
export function isSameCredential(
  known: CompiledCredential | undefined,
  sealed: SealedSecret | undefined,
): boolean {
  return known?.sealed.sealed === sealed?.sealed && known?.sealed.key_id === sealed?.key_id;
}
