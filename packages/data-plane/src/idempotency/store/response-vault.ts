import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { deriveKey, type MasterKey } from '@gateway/shared/config/master-keys';
import type { RandomSource } from '@gateway/shared/ids';
import { z } from 'zod';

/** The stored response of a request: status, end-to-end fields, body and trailers, as the upstream sent them. */
export interface StoredResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; each character is one byte. */
  readonly fields: readonly string[];
  /** undefined if it was too large to keep. */
  readonly body: Buffer | undefined;
  /** undefined: there are none. */
  readonly trailers?: readonly string[] | undefined;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = 'idempotency-answers';

const metaSchema = z.object({
  status: z.int(),
  status_text: z.string(),
  fields: z.array(z.string()),
  trailers: z.array(z.string()).optional(),
});

/** The response was encrypted with an unknown key, or was changed. */
export class ResponseUnreadableError extends Error {
  override readonly name = 'ResponseUnreadableError';
}

/**
 * Encrypts responses with AES-256-GCM and a key derived from the newest master key. Status and fields are encrypted too,
 * because fields may contain secrets. The name and the head of the entry are authenticated, so that a response cannot be
 * moved to another key.
 */
export class ResponseVault {
  readonly newestKeyId: string;
  /** Key objects, because creating one costs four times as much as the encryption of a small response. */
  readonly #keys = new Map<string, KeyObject>();
  readonly #random: RandomSource;

  constructor(masterKeys: readonly MasterKey[], random: RandomSource) {
    for (const key of masterKeys) {
      this.#keys.set(key.id, createSecretKey(deriveKey(key, PURPOSE)));
    }
    this.newestKeyId = masterKeys[0]?.id ?? '';
    this.#random = random;
  }

  /** Encrypts a response for the entry with this name and head. */
  seal(response: StoredResponse, name: string, headText: string): Buffer {
    const meta = JSON.stringify({
      status: response.status,
      status_text: response.statusText,
      fields: response.fields,
      trailers: response.trailers,
    });
    const bodyAt = 4 + Buffer.byteLength(meta);
    const plain = Buffer.allocUnsafe(bodyAt + (response.body?.length ?? 0));
    plain.writeUInt32BE(bodyAt - 4);
    plain.write(meta, 4, 'utf8');
    response.body?.copy(plain, bodyAt);
    const nonce = new Uint8Array(NONCE_BYTES);
    this.#random(nonce);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.newestKeyId), nonce);
    cipher.setAAD(associated(name, headText));
    const sealed = cipher.update(plain);
    // GCM has no padding: nothing is left.
    cipher.final();
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /**
   * Decrypts the response of the entry with this name and head.
   *
   * @throws ResponseUnreadableError
   */
  open(
    sealed: Uint8Array,
    keyId: string,
    bodyKept: boolean,
    name: string,
    headText: string,
  ): StoredResponse {
    if (sealed.length < NONCE_BYTES + TAG_BYTES)
      throw new ResponseUnreadableError('it is truncated');
    const start = NONCE_BYTES + TAG_BYTES;
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#key(keyId),
      sealed.subarray(0, NONCE_BYTES),
    );
    decipher.setAAD(associated(name, headText));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, start));
    const plain = Buffer.concat([decipher.update(sealed.subarray(start)), finalOf(decipher)]);
    const bodyAt = 4 + plain.readUInt32BE(0);
    const meta = metaSchema.parse(JSON.parse(plain.subarray(4, bodyAt).toString('utf8')));
    return {
      status: meta.status,
      statusText: meta.status_text,
      fields: meta.fields,
      body: bodyKept ? plain.subarray(bodyAt) : undefined,
      trailers: meta.trailers,
    };
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id);
    if (key === undefined)
      throw new ResponseUnreadableError('its key is not in GATEWAY_MASTER_KEYS');
    return key;
  }
}

function finalOf(decipher: { final(): Buffer }): Buffer {
  try {
    return decipher.final();
  } catch (cause) {
    throw new ResponseUnreadableError('it was changed', { cause });
  }
}

function associated(name: string, headText: string): Buffer {
  return Buffer.from(`${name}\n${headText}`, 'utf8');
}
