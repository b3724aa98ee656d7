import {
  SecretUnreadableError,
  type SealedSecret,
  type UnreadableReason,
} from '@gateway/shared/secrets/secret-vault';
import type { UpstreamCredential } from '@gateway/shared/secrets/upstream-credential';

/** What the upstreams of a service are sent so that they let the gateway in. */
export type CompiledCredential = UsableCredential | UnusableCredential;

export interface UsableCredential extends UpstreamCredential {
  readonly usable: true;
  /** The name with dashes for underscores: what some upstreams cannot tell from the header's own. */
  readonly dashedHeader: string;
  readonly sealed: SealedSecret;
}

/** The service has one that this process cannot open: nothing may be sent to its upstreams without. */
export interface UnusableCredential {
  readonly usable: false;
  readonly reason: UnreadableReason;
  readonly sealed: SealedSecret;
}

/** Opens what a control plane sealed for a service. */
export interface CredentialOpener {
  /** @throws SecretUnreadableError */
  open(sealed: SealedSecret, serviceId: string): UpstreamCredential;
  /** @throws SecretUnreadableError */
  openClientKey(sealed: SealedSecret, serviceId: string): string;
}

/** For who has no keys: no credential can be used. */
export const NO_KEYS: CredentialOpener = {
  open(sealed) {
    throw new SecretUnreadableError('key_missing', sealed.key_id);
  },
  openClientKey(sealed) {
    throw new SecretUnreadableError('key_missing', sealed.key_id);
  },
};

/**
 * Opens a credential once for the whole life of the table, so that no request does. One that cannot be
 * opened makes that service alone unusable, as all others must be served.
 */
export function compileCredential(
  sealed: SealedSecret | undefined,
  serviceId: string,
  opener: CredentialOpener,
): CompiledCredential | undefined {
  if (sealed === undefined) return undefined;
  try {
    const { header, value } = opener.open(sealed, serviceId);
    return { usable: true, header, dashedHeader: header.replaceAll('_', '-'), value, sealed };
  } catch (error) {
    if (!(error instanceof SecretUnreadableError)) throw error;
    return { usable: false, reason: error.reason, sealed };
  }
}

/** Whether this is what was compiled already. Each sealing differs, so equal text is an equal secret. */
export function isSameCredential(
  known: CompiledCredential | undefined,
  sealed: SealedSecret | undefined,
): boolean {
  return known?.sealed.sealed === sealed?.sealed && known?.sealed.key_id === sealed?.key_id;
}
