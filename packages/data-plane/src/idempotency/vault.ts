import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { deriveKey, type MasterKey } from '@gateway/shared/config/master-keys';
import type { RandomSource } from '@gateway/shared/ids';
import { z } from 'zod';

/** The answer to a request, as it is given again: end-to-end fields, as the upstream sent them. */
export interface StoredAnswer {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; one character a byte. */
  readonly fields: readonly string[];
  /** undefined: it was too large to be kept. */
  readonly body: Buffer | undefined;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = 'idempotency-answers';

const metaSchema = z.object({
  status: z.int(),
  status_text: z.string(),
  fields: z.array(z.string()),
});

/** The answer was sealed with a key that is not there, or it is not what was sealed. */
export class AnswerUnreadableError extends Error {
  override readonly name = 'AnswerUnreadableError';
}

/**
 * Seals answers with AES-256-GCM, under a key derived from the newest master key. Status and fields
 * are sealed with the body, as fields may hold secrets. Each is bound to where it is kept and to the
 * head that stands before it, so that no answer can be put under another key.
 */
export class AnswerVault {
  readonly newestKeyId: string;
  /** As key objects: to make one of bytes costs four times the sealing of a small answer. */
  readonly #keys = new Map<string, KeyObject>();
  readonly #random: RandomSource;

  constructor(masterKeys: readonly MasterKey[], random: RandomSource) {
    for (const key of masterKeys) {
      this.#keys.set(key.id, createSecretKey(deriveKey(key, PURPOSE)));
    }
    this.newestKeyId = masterKeys[0]?.id ?? '';
    this.#random = random;
  }

  seal(answer: StoredAnswer, name: string, headBytes: Uint8Array): Buffer {
    const meta = Buffer.from(
      JSON.stringify({
        status: answer.status,
        status_text: answer.statusText,
        fields: answer.fields,
      }),
      'utf8',
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(meta.length);
    const nonce = new Uint8Array(NONCE_BYTES);
    this.#random(nonce);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.newestKeyId), nonce);
    cipher.setAAD(associated(name, headBytes));
    const sealed = [length, meta, answer.body ?? Buffer.alloc(0)].map((part) =>
      cipher.update(part),
    );
    sealed.push(cipher.final());
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
  }

  /** @throws AnswerUnreadableError */
  open(
    sealed: Uint8Array,
    keyId: string,
    bodyKept: boolean,
    name: string,
    headBytes: Uint8Array,
  ): StoredAnswer {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new AnswerUnreadableError('cut short');
    const start = NONCE_BYTES + TAG_BYTES;
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#key(keyId),
      sealed.subarray(0, NONCE_BYTES),
    );
    decipher.setAAD(associated(name, headBytes));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, start));
    const plain = Buffer.concat([decipher.update(sealed.subarray(start)), finalOf(decipher)]);
    const bodyAt = 4 + plain.readUInt32BE(0);
    const meta = metaSchema.parse(JSON.parse(plain.subarray(4, bodyAt).toString('utf8')));
    return {
      status: meta.status,
      statusText: meta.status_text,
      fields: meta.fields,
      body: bodyKept ? plain.subarray(bodyAt) : undefined,
    };
  }

  #key(id: string): KeyObject {
    const key = this.#keys.get(id);
    if (key === undefined) throw new AnswerUnreadableError('GATEWAY_MASTER_KEYS lacks its key');
    return key;
  }
}

function finalOf(decipher: { final(): Buffer }): Buffer {
  try {
    return decipher.final();
  } catch (cause) {
    throw new AnswerUnreadableError('it is not what was sealed', { cause });
  }
}

function associated(name: string, headBytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), headBytes]);
}
