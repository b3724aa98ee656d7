import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type DecipherGCM,
  type KeyObject,
} from 'node:crypto';
import { z } from 'zod';
import { deriveKey, type MasterKey } from '../config/master-keys.ts';
import type { RandomSource } from '../ids.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** An encrypted secret, as it is stored and published. */
export const sealedSecretSchema = z.object({
  /** Id of the master key that the encryption key was derived from. */
  key_id: z.string(),
  /** Base64 of nonce, tag and ciphertext. */
  sealed: z.string(),
});

export type SealedSecret = Readonly<z.infer<typeof sealedSecretSchema>>;

/** `key_missing`: there is no such master key. `unreadable`: the secret was not encrypted with that key, or was changed. */
export type UnreadableReason = 'key_missing' | 'unreadable';

/** A secret that cannot be decrypted. The message names the key and contains nothing of the secret. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
  readonly reason: UnreadableReason;
  readonly keyId: string;

  constructor(reason: UnreadableReason, keyId: string) {
    super(
      reason === 'key_missing'
        ? `GATEWAY_MASTER_KEYS lacks the key ${keyId}`
        : `it is not what was sealed under the key ${keyId}`,
    );
    this.reason = reason;
    this.keyId = keyId;
  }
}

/**
 * Encrypts secrets with AES-256-GCM (NIST SP 800-38D) and a key that is derived from the newest master key for this purpose only, and
 * decrypts secrets of all known master keys. Each secret is bound to its owner, so that it cannot be moved to
 * another one.
 */
export class SecretVault {
  readonly newestKeyId: string;
  /** Key objects, so that the raw keys are imported only once. */
  readonly #keys = new Map<string, KeyObject>();
  readonly #random: RandomSource;

  constructor(masterKeys: readonly MasterKey[], purpose: string, random: RandomSource) {
    for (const key of masterKeys) this.#keys.set(key.id, createSecretKey(deriveKey(key, purpose)));
    this.newestKeyId = masterKeys[0]?.id ?? '';
    this.#random = random;
  }

  /** Whether secrets of this master key can be decrypted. */
  knows(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** @param owner the owner of the secret, such as the id of a service */
  seal(secret: string, owner: string): SealedSecret {
    const keyId = this.newestKeyId;
    const nonce = new Uint8Array(NONCE_BYTES);
    this.#random(nonce);
    const cipher = createCipheriv('aes-256-gcm', this.#key(keyId), nonce);
    cipher.setAAD(Buffer.from(owner, 'utf8'));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    return { key_id: keyId, sealed };
  }

  /** @throws SecretUnreadableError */
  open({ key_id: keyId, sealed }: SealedSecret, owner: string): string {
    const key = this.#key(keyId);
    const bytes = Buffer.from(sealed, 'base64');
    const start = NONCE_BYTES + TAG_BYTES;
    if (bytes.length < start) throw new SecretUnreadableError('unreadable', keyId);
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(owner, 'utf8'));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, start));
    return finish(decipher, bytes.subarray(start), keyId);
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id);
    if (key === undefined) throw new SecretUnreadableError('key_missing', id);
    return key;
  }
}

/** Has no cause: that would only say that the tag does not match. */
function finish(decipher: DecipherGCM, text: Buffer, keyId: string): string {
  try {
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretUnreadableError('unreadable', keyId);
  }
}
