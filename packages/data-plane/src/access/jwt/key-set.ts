import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

/** The public keys of a token issuer, as one answer of it named them. Never changed. */
export interface KeySet {
  /** Finds the key that a token names. Rejects with an error of jose where there is none, or several. */
  readonly find: JWTVerifyGetKey;
  readonly size: number;
  /** How many more there were that could be used, past the bound. */
  readonly dropped: number;
}

/** Keys past this number are dropped, and counted: no issuer is known to publish a tenth of it. */
const MAX_KEYS = 64;
/** A modulus of 8192 bits in base64url; what is longer takes long to verify with. */
const MAX_MODULUS_CHARS = 1366;
const MAX_MEMBER_CHARS = 256;

const member = z.string().max(MAX_MEMBER_CHARS);

/** The members of a public key alone: what an issuer published of a private one is left out. */
const keySchema = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: member.optional(),
  use: member.optional(),
  alg: member.optional(),
  key_ops: z.array(member).max(16).optional(),
  n: z.string().max(MAX_MODULUS_CHARS).optional(),
  e: member.optional(),
  crv: member.optional(),
  x: member.optional(),
  y: member.optional(),
});

const documentSchema = z.object({ keys: z.array(z.unknown()) });

/**
 * Reads a JWK Set (RFC 7517 section 5): keys that are symmetric, or not understood, are left out as
 * that section says. Undefined where the text is no JWK Set at all.
 */
export function parseKeySet(text: string): KeySet | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const document = documentSchema.safeParse(json);
  if (!document.success) return undefined;
  const keys: JWK[] = [];
  let dropped = 0;
  for (const entry of document.data.keys) {
    const key = keySchema.safeParse(entry);
    if (!key.success) continue;
    if (keys.length < MAX_KEYS) keys.push(key.data as JWK);
    else dropped += 1;
  }
  return { find: createLocalJWKSet({ keys }), size: keys.length, dropped };
}
