import { hkdfSync } from 'node:crypto';
import { z } from 'zod';

/** A 256-bit key of the operator. All other keys of the product are derived from it. */
export interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

const MESSAGE =
  'must be `id:base64` keys of 32 bytes each, comma-separated, newest first, each id once';

/**
 * `GATEWAY_MASTER_KEYS`: `id:base64,…`, newest first. The first key encrypts and signs; all of them decrypt and verify. To
 * replace a key, put the new one first.
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
