import { createHash, hash } from 'node:crypto';
import { basicCredential, bearerCredential } from '../http/headers.ts';
import { systemRandom, type RandomSource } from '../ids.ts';

/** Prefix of every workspace token, so that leaked tokens can be searched for. */
export const TOKEN_PREFIX = 'gwt_';

const SECRET = /^gwt_[A-Za-z0-9_-]{43}$/;

/** A new token secret: `gwt_` and 256 random bits in base64url. */
export function createTokenSecret(random: RandomSource = systemRandom): string {
  const bytes = new Uint8Array(32);
  random(bytes);
  return TOKEN_PREFIX + Buffer.from(bytes).toString('base64url');
}

/** The characters by which people tell secrets apart. The other 39 random ones, 234 bits, stay unknown. */
const SHOWN_CHARS = TOKEN_PREFIX.length + 4;

/** The begin of a secret, which may be shown. */
export function secretPrefix(secret: string): string {
  return secret.slice(0, SHOWN_CHARS);
}

/** Whether the text has the form of a token secret. */
export function isTokenSecret(text: string): boolean {
  return SECRET.test(text);
}

const SECRET_WITHIN = /gwt_[A-Za-z0-9_-]{43}/;

/** Whether the text contains a token secret, in any form in which it can be sent. */
export function holdsTokenSecret(text: string): boolean {
  return SECRET_WITHIN.test(text);
}

const BASIC_SCHEME = /^basic[ \t]/i;
/** What decoders read of a field that is not valid: some stop at a character that is not of the alphabet, others skip it. */
const ENCODED = /[A-Za-z0-9+/_-]+/g;

/**
 * Whether an `Authorization` field contains a token secret: as it is, or in what it encodes.
 *
 * @param except a secret that does not count
 */
export function credentialHoldsTokenSecret(authorization: string, except?: string): boolean {
  const holds = (text: string) =>
    holdsTokenSecret(except === undefined ? text : text.replaceAll(except, ' '));
  if (holds(authorization)) return true;
  if (!BASIC_SCHEME.test(authorization)) return false;
  return (authorization.match(ENCODED) ?? []).some((part) =>
    holds(Buffer.from(part, 'base64').toString('latin1')),
  );
}

/**
 * The token secret of an `Authorization` field: the credential of `Bearer`, or the password of `Basic` beside any user
 * name. Undefined if it has none, or if the user name holds another one: then nothing says which of them counts.
 */
export function presentedTokenSecret(authorization: string | undefined): string | undefined {
  const bearer = bearerCredential(authorization);
  if (bearer !== undefined) return isTokenSecret(bearer) ? bearer : undefined;
  const basic = authorization === undefined ? undefined : basicCredential(authorization);
  if (basic === undefined) return undefined;
  const colon = basic.indexOf(':');
  const user = basic.slice(0, Math.max(0, colon));
  const password = basic.slice(colon + 1);
  if (colon === -1 || !isTokenSecret(password)) return undefined;
  return holdsTokenSecret(user) && user !== password ? undefined : password;
}

const SECRETS_WITHIN = new RegExp(SECRET_WITHIN, 'g');
/** Shorter text cannot contain a secret, which decides nearly all cases. */
const SECRET_CHARS = TOKEN_PREFIX.length + 43;

/**
 * Replaces each token secret in a text. For paths and ids that are logged or recorded, which may contain a token by mistake of the
 * caller.
 */
export function withoutTokenSecrets(text: string): string {
  if (text.length < SECRET_CHARS || !text.includes(TOKEN_PREFIX)) return text;
  return text.replace(SECRETS_WITHIN, '[token]');
}

/**
 * SHA-256 of the secret in hex: the only form in which a token is stored, published and looked up. A plain hash is enough because
 * the secret has 256 random bits, and the timing of a lookup by hash does not help to guess it.
 */
export function hashTokenSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The same hash as bytes, as stored in Postgres. */
export function hashTokenSecretBytes(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
