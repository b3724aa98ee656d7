import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { isEd25519 } from '@gateway/shared/tokens/jwt-algorithms';

/** The public keys of a token issuer, from one of its responses. Immutable. */
export interface KeySet {
  /** Finds the key that a token names. Rejects with an error of jose if there is none or several. */
  readonly find: JWTVerifyGetKey;
  readonly size: number;
  /** How many usable keys above the limit were dropped. */
  readonly dropped: number;
}

/** Keys above this number are dropped and counted; issuers publish a tenth of it or fewer. */
const MAX_KEYS = 64;
/** A modulus of 8192 bits in base64url; verifying with a longer one is slow. */
const MAX_MODULUS_CHARS = 1366;
const MAX_MEMBER_CHARS = 256;

const member = z.string().max(MAX_MEMBER_CHARS);

/** Only the members of a public key; private members that an issuer published are dropped. */
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
 * Parses a JWK Set (RFC 7517 section 5). Symmetric and unknown keys are ignored, as that section says.
 * Returns undefined if the text is not a JWK Set.
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
    if (keys.length < MAX_KEYS) keys.push(usableForEveryName(key.data) as JWK);
    else dropped += 1;
  }
  return { find: createLocalJWKSet({ keys }), size: keys.length, dropped };
}

/** Without `alg` the curve decides, so that a key verifies the tokens that have another name of its algorithm. */
function usableForEveryName(key: z.output<typeof keySchema>): z.output<typeof keySchema> {
  return key.crv === 'Ed25519' && isEd25519(key.alg) ? { ...key, alg: undefined } : key;
}
