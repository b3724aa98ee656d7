import { z } from 'zod';
import type { MasterKey } from '../config/master-keys.ts';
import { HTTP_TOKEN } from '../http/headers.ts';
import type { RandomSource } from '../ids.ts';
import { SecretUnreadableError, SecretVault, type SealedSecret } from './secret-vault.ts';

/**
 * The header field that authenticates the gateway to a service's upstreams. The name is encrypted together with the value, so that
 * write access to the database cannot make the gateway send the value in another field, such as one that an upstream
 * echoes.
 */
export interface UpstreamCredential {
  /** In lower case. */
  readonly header: string;
  readonly value: string;
}

/** A valid header field (RFC 9110 sections 5.1 and 5.5). It is checked again after decryption. */
const credentialSchema = z.object({
  header: z.string().regex(HTTP_TOKEN),
  value: z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/),
});

/** Encrypts and decrypts upstream credentials. The owner of a credential is its service. */
export class CredentialVault {
  readonly #vault: SecretVault;
  readonly #clientKeys: SecretVault;

  constructor(masterKeys: readonly MasterKey[], random: RandomSource) {
    this.#vault = new SecretVault(masterKeys, 'upstream-credentials', random);
    this.#clientKeys = new SecretVault(masterKeys, 'upstream-client-keys', random);
  }

  /** The key that encrypts new credentials. */
  get newestKeyId(): string {
    return this.#vault.newestKeyId;
  }

  /** Whether credentials of this master key can be decrypted. */
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

  /** @param keyPem private key of the client certificate for a service's upstreams */
  sealClientKey(keyPem: string, serviceId: string): SealedSecret {
    return this.#clientKeys.seal(keyPem, serviceId);
  }

  /** @throws SecretUnreadableError */
  openClientKey(sealed: SealedSecret, serviceId: string): string {
    return this.#clientKeys.open(sealed, serviceId);
  }
}

/** A parse error could quote the credential, so it is not kept as the cause. */
function parse(text: string, keyId: string): UpstreamCredential {
  try {
    return credentialSchema.parse(JSON.parse(text));
  } catch {
    throw new SecretUnreadableError('unreadable', keyId);
  }
}
