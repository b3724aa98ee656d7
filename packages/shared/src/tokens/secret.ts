import { createHash, hash } from 'node:crypto';
import { systemRandom, type RandomSource } from '../ids.ts';

/** What every workspace token begins with, so that leaked ones can be searched for. */
export const TOKEN_PREFIX = 'gwt_';

const SECRET = /^gwt_[A-Za-z0-9_-]{43}$/;

/** A new token secret: `gwt_` and 256 random bits in base64url. */
export function createTokenSecret(random: RandomSource = systemRandom): string {
  const bytes = new Uint8Array(32);
  random(bytes);
  return TOKEN_PREFIX + Buffer.from(bytes).toString('base64url');
}

/** Whether the text has the form of a token secret, whatever it names. */
export function isTokenSecret(text: string): boolean {
  return SECRET.test(text);
}

const SECRET_WITHIN = /gwt_[A-Za-z0-9_-]{43}/;

/** Whether a token secret stands anywhere in the text, in whichever form it was sent. */
export function holdsTokenSecret(text: string): boolean {
  return SECRET_WITHIN.test(text);
}

const BASIC = /^basic[ \t]+([A-Za-z0-9+/=_-]+)[ \t]*$/i;

/** Whether an `Authorization` field holds a token secret: as it stands, or as user or password. */
export function credentialHoldsTokenSecret(authorization: string): boolean {
  const basic = BASIC.exec(authorization)?.[1];
  return holdsTokenSecret(
    basic === undefined ? authorization : Buffer.from(basic, 'base64').toString('latin1'),
  );
}

const SECRETS_WITHIN = new RegExp(SECRET_WITHIN, 'g');
/** Nothing shorter can hold one; that settles it for nearly all texts. */
const SECRET_CHARS = TOKEN_PREFIX.length + 43;

/**
 * The text with each token secret in it replaced: for what is logged or recorded of a path
 * or an id, where a caller may have put a token by mistake.
 */
export function withoutTokenSecrets(text: string): string {
  if (text.length < SECRET_CHARS || !text.includes(TOKEN_PREFIX)) return text;
  return text.replace(SECRETS_WITHIN, '[token]');
}

/**
 * SHA-256 of the secret in hex: the only form in which a token is stored, published and looked up.
 * A plain hash is enough as the secret holds 256 random bits, and a look-up by hash leaks no timing
 * that helps to guess it.
 */
export function hashTokenSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The same hash, as the bytes that Postgres keeps. */
export function hashTokenSecretBytes(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
