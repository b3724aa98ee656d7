import { hkdfSync } from 'node:crypto';
import { z } from 'zod';

/** A 256-bit key of the operator, from which every other key of the product is derived. */
export interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

const MESSAGE = 'must be `id:base64` of 32 bytes, newest first, commas between';

/**
 * `GATEWAY_MASTER_KEYS`: `id:base64,…`, newest first. The newest makes new things; all of them are
 * good for reading old ones, so a key is replaced by putting the new one in front.
 */
export const masterKeysVariable = z.string().transform((text, context) => {
  const keys: MasterKey[] = [];
  for (const part of text.split(',')) {
    const [, id, base64] = /^\s*([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})\s*$/.exec(part) ?? [];
    const bytes = new Uint8Array(Buffer.from(base64 ?? '', 'base64'));
    if (id === undefined || bytes.length !== 32 || keys.some((key) => key.id === id)) {
      context.addIssue({ code: 'custom', message: MESSAGE });
      return z.NEVER;
    }
    keys.push({ id, bytes });
  }
  return keys;
});

/** The key for one purpose, derived by HKDF (RFC 5869), so that no key serves two purposes. */
export function deriveKey(key: MasterKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key.bytes, new Uint8Array(0), `gateway:${purpose}`, 32));
}
