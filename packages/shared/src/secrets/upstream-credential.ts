import { z } from 'zod';
import type { MasterKey } from '../config/master-keys.ts';
import { FIELD_NAME } from '../http/headers.ts';
import type { RandomSource } from '../ids.ts';
import { SecretUnreadableError, SecretVault, type SealedSecret } from './secret-vault.ts';

/**
 * What a service's upstreams are sent so that they let the gateway in: one header field. The name is
 * sealed with the value, so that whoever may write to the database cannot have it sent elsewhere in
 * the request, such as in a field that an upstream shows.
 */
export interface UpstreamCredential {
  /** In lower case. */
  readonly header: string;
  readonly value: string;
}

/** A field as it may be sent (RFC 9110 sections 5.1 and 5.5), however it came to be sealed. */
const credentialSchema = z.object({
  header: z.string().regex(FIELD_NAME),
  value: z.string().regex(/^[^\r\n\0]*$/),
});

/** Seals credentials of upstreams; the service is the owner. */
export class CredentialVault {
  readonly #vault: SecretVault;
  readonly #clientKeys: SecretVault;

  constructor(masterKeys: readonly MasterKey[], random: RandomSource) {
    this.#vault = new SecretVault(masterKeys, 'upstream-credentials', random);
    this.#clientKeys = new SecretVault(masterKeys, 'upstream-client-keys', random);
  }

  /** The key that new credentials are sealed under. */
  get newestKeyId(): string {
    return this.#vault.newestKeyId;
  }

  /** Whether what was sealed under this master key can be opened. */
  knows(keyId: string): boolean {
    return this.#vault.knows(keyId);
  }

  seal({ header, value }: UpstreamCredential, serviceId: string): SealedSecret {
    return this.#vault.seal(JSON.stringify({ header, value }), serviceId);
  }

  /** @throws SecretUnreadableError */
  open(sealed: SealedSecret, serviceId: string): UpstreamCredential {
    return parse(this.#vault.open(sealed, serviceId), sealed.key_id);
  }

  /** @param keyPem the private key of the certificate that a service's upstreams ask for */
  sealClientKey(keyPem: string, serviceId: string): SealedSecret {
    return this.#clientKeys.seal(keyPem, serviceId);
  }

  /** @throws SecretUnreadableError */
  openClientKey(sealed: SealedSecret, serviceId: string): string {
    return this.#clientKeys.open(sealed, serviceId);
  }
}

/** What parsing says of a text that does not hold could quote it, so nothing of that goes along. */
function parse(text: string, keyId: string): UpstreamCredential {
  try {
    return credentialSchema.parse(JSON.parse(text));
  } catch {
    throw new SecretUnreadableError('unreadable', keyId);
  }
}
